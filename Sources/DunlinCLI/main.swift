print("dunlin")
