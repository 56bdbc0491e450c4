/** DIDs as a person reads them. */

/** The short form of a did:prism, `did:prism:<hash>`; any other DID as it is. */
export function shortForm(did: string): string {
  return did.startsWith('did:prism:') ? did.split(':', 3).join(':') : did
}
