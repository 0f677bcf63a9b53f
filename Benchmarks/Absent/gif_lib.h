#error "product Dunlin must not need the libraries for pictures"
