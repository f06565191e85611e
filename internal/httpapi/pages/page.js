// The secret of the page comes behind the # of the address, once, from signing in: a link elsewhere cannot
// bring another one. It is kept where only pages of this very origin, port included, can read it, and for as
// long as somebody is signed in.
const given = /^#page=(.+)$/.exec(location.hash)
if (given) {
	if (document.referrer.startsWith(location.origin + '/sign-in')) localStorage.setItem('parley-page', given[1])
	history.replaceState(null, '', location.pathname)
}
if (!document.querySelector('form[action="/sign-out"]')) localStorage.removeItem('parley-page')
