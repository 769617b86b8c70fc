"""The operators of the catalog, one a module; each module offers it as `OPERATOR`."""
