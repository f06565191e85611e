package conversations

// BroadcastChannel is where what is for everybody is said.
const BroadcastChannel = "broadcast"
