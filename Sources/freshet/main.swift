print("freshet")
