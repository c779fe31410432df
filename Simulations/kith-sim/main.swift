print("kith-sim")
