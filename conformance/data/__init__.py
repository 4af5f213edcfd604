"""Are the bytes that were named moved, all of them, and no other?"""
