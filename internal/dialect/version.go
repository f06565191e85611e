package dialect

import (
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// supportedVersion returns the supported version of a dialect.
func supportedVersion(d Dialect) string {
	for _, p := range parley.Protocols() {
		if p.Name == string(d) {
			return p.Version
		}
	}
	return ""
}

// majorMinor returns a version without its patch number.
func majorMinor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// checkVersion accepts the same major version, with a warning for a newer minor one. The schema checks the form.
func checkVersion(d Dialect, version string) (warning string, err error) {
	if _, parseErr := parley.ParseProtocol(string(d) + "/" + version); d == AgentOS || parseErr != nil {
		return "", nil
	}
	ours := supportedVersion(d)
	order, same := parley.CompareVersions(majorMinor(version), majorMinor(ours))
	switch {
	case !same:
		return "", parley.Errorf(parley.BadInput, "the document is of version %s of %s, and %s is spoken here", version, d, ours).
			Suggest("write version %s", ours)
	case order > 0:
		return fmt.Sprintf("version %s of %s is newer than %s, which is spoken here: what it has added may be lost on others", version, d, ours), nil
	default:
		return "", nil
	}
}
