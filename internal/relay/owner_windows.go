package relay

// CheckHome leaves it to the access control of the profile.
func CheckHome(string) error { return nil }

// CheckOwner leaves it to the access control of the profile.
func CheckOwner(string) error { return nil }
