"""The tasks: three disjoint splits, and the script that wrote them."""
