package dialect

import (
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// supportedVersion returns the supported version of a dialect, or "".
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

// checkVersion returns E003 for another major version, and a warning for a newer minor version. It ignores a version that cannot
// be parsed, because the schema checks the form, and documents of the Multi-Agent OS format, which have no version.
func checkVersion(d Dialect, version string) (warning string, err error) {
	if _, parseErr := parley.ParseProtocol(string(d) + "/" + version); d == AgentOS || parseErr != nil {
		return "", nil
	}
	supported := supportedVersion(d)
	order, sameMajor := parley.CompareVersions(majorMinor(version), majorMinor(supported))
	switch {
	case !sameMajor:
		return "", parley.Errorf(parley.BadInput, "the document has version %s of %s, but the hub supports %s", version, d, supported).
			Suggest("write version %s", supported)
	case order > 0:
		return fmt.Sprintf("version %s of %s is newer than the supported version %s: its new fields may get lost in other formats", version, d, supported), nil
	default:
		return "", nil
	}
}
