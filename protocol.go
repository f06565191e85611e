package parley

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Protocols returns the formats that this program supports.
func Protocols() []Protocol {
	return []Protocol{{"agentos", "1.0"}, {"clawos", "1.0"}, {"routing", "1.0.0"}}
}

// Protocol returns the format of the files of a layout, in the supported version.
func (l Layout) Protocol() Protocol {
	for _, p := range Protocols() {
		if p.Name == l.Dialect() {
			return p
		}
	}
	return Protocol{}
}

// Speaker is an agent with the formats that it supports.
type Speaker struct {
	Agent     string     `json:"agent" doc:"The agent's id."`
	Protocols []Protocol `json:"protocols" doc:"The formats that the agent supports."`
	Common    []Protocol `json:"common" doc:"For each format that both support: the highest common version, which the hub uses."`
}

// Spoken lists the formats that the hub supports, and the agents that name formats in their profiles.
type Spoken struct {
	Protocols []Protocol `json:"protocols" doc:"The formats that the hub supports."`
	Agents    []Speaker  `json:"agents" doc:"Each agent that names a format in its profile."`
}

// ParseProtocol reads a name and a version in the form of agents' profiles: routing/1.0.0. It returns E003 for any other text.
func ParseProtocol(text string) (Protocol, error) {
	name, version, _ := strings.Cut(text, "/")
	if _, ok := versionOf(version); name == "" || !ok {
		return Protocol{}, Errorf(BadInput, "%q is not a protocol", clip(text)).Suggest("write its name and version, like routing/1.0.0")
	}
	return Protocol{name, version}, nil
}

func (p Protocol) String() string { return p.Name + "/" + p.Version }

// versionOf returns the numbers of a version. ok is false if the text is not a version.
func versionOf(text string) (numbers []int, ok bool) {
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil && !errors.Is(err, strconv.ErrRange) || n < 0 || part[0] == '+' { // ErrRange: a number that is too large for int is valid
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// CompareVersions compares two versions as cmp.Compare does. It also returns whether they have the same major number; only then a
// program for the newer version understands the older one. A text that is not a version is older than any version.
func CompareVersions(a, b string) (order int, sameMajor bool) {
	x, xOK := versionOf(a)
	y, yOK := versionOf(b)
	if !xOK || !yOK {
		return cmp.Compare(len(x), len(y)), false
	}
	sameMajor = x[0] == y[0]
	for len(x) < len(y) {
		x = append(x, 0)
	}
	for len(y) < len(x) {
		y = append(y, 0)
	}
	return slices.Compare(x, y), sameMajor
}

// Common returns the formats that are in both lists, each in the highest common version, ordered by name.
func Common(a, b []Protocol) []Protocol {
	best := map[string]string{}
	for _, p := range a {
		for _, q := range b {
			order, same := CompareVersions(p.Version, q.Version)
			if p.Name != q.Name || !same {
				continue
			}
			lower := p.Version
			if order > 0 {
				lower = q.Version
			}
			if order, _ := CompareVersions(lower, best[p.Name]); order > 0 {
				best[p.Name] = lower
			}
		}
	}
	common := []Protocol{}
	for name, version := range best {
		common = append(common, Protocol{name, version})
	}
	slices.SortFunc(common, func(p, q Protocol) int { return cmp.Compare(p.Name, q.Name) })
	return common
}
