package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// guard refuses requests that no client of this hub sends, such as those that a page of another site makes a browser send. It
// runs before the caller is identified.
func (a *api) guard(r *http.Request) error {
	if !a.knownHost(r) {
		return withStatus(http.StatusMisdirectedRequest, parley.Errorf(parley.NotPermitted, "this hub is not called %q", shorten(r.Host)).
			Suggest("use its address, or ask its owner to add the name to hosts in config.yaml"))
	}
	if err := a.checkOrigin(r); err != nil {
		return err
	}
	if r.Header["Upgrade"] != nil {
		return parley.Errorf(parley.NotPermitted, "this hub does not support protocol upgrades").Suggest("use /v1/events to follow events")
	}
	if p := r.URL.Path; p == "" || p[0] != '/' || p != "/" && path.Clean(p) != p {
		return parley.Errorf(parley.BadInput, "there is no resource at %q", shorten(p)).Because(parley.NotFound).
			Suggest("see /docs for all paths")
	}
	return nil
}

// knownHost reports whether the Host of a request is a name of this hub. This protects against DNS rebinding, in which a foreign
// name leads to the hub. Requests over the local socket always pass: browsers cannot use it.
func (a *api) knownHost(r *http.Request) bool {
	local, overTCP := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !overTCP || a.configuredOrigins(r.Host) != nil {
		return true
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = strings.Trim(r.Host, "[]"), "80"
	}
	if port != strconv.Itoa(local.Port) {
		return false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost") && !strings.HasPrefix(r.Host, "[")
	}
	return ip.IsLoopback() || ip == local.AddrPort().Addr().Unmap()
}

// configuredOrigins returns the origins of a configured host, or nil for another host.
func (a *api) configuredOrigins(host string) []string { return a.hosts[strings.ToLower(host)] }

// originsOf maps each configured host to its origins: one if the entry has a scheme, or those of both schemes.
func originsOf(hosts []string) map[string][]string {
	known := map[string][]string{}
	for _, entry := range hosts {
		entry = strings.ToLower(entry)
		if _, host, given := strings.Cut(entry, "://"); given {
			known[host] = append(known[host], entry)
		} else {
			known[entry] = append(known[entry], "http://"+entry, "https://"+entry)
		}
	}
	return known
}

// checkOrigin refuses a request from a page of another origin. An origin is a scheme, a name and a port.
func (a *api) checkOrigin(r *http.Request) error {
	if given := r.Header["Origin"]; len(given) > 1 || len(given) == 1 && !slices.Contains(a.origins(r), given[0]) {
		return foreignPage()
	}
	if err := a.cross.Check(r); err != nil {
		return foreignPage().From(err)
	}
	return nil
}

func foreignPage() *parley.Error {
	return parley.Errorf(parley.NotPermitted, "the request comes from a page that is not this hub's").
		Suggest("call the hub from its own page, or from a program")
}

// origins returns the origins that the hub's own pages have at the Host of a request.
func (a *api) origins(r *http.Request) []string {
	if known := a.configuredOrigins(r.Host); known != nil {
		return known
	}
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	return []string{scheme + strings.ToLower(r.Host)}
}
