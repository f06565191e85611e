package agents

import (
	"github.com/parley-hub/parley"
)

func SpokenBy(a parley.Agent) (list []parley.Protocol) {
	for _, text := range a.Protocols {
		if p, err := parley.ParseProtocol(text); err == nil { // else it is a note of its owner's
			list = append(list, p)
		}
	}
	return list
}
