/** The groups of operations in the OpenAPI document, in the order in which a reader needs them. */

const descriptions: Readonly<Record<string, string>> = {
  connections: 'Connections to other agents: invitations, their state, and what is accepted automatically',
  'connection-invitations': 'Accept an invitation of another agent',
  'did-registrar': 'The wallet’s own DIDs: create, publish, update, deactivate',
  dids: 'Resolve any DID',
  'issue-credentials': 'Offer, accept and issue credentials',
  oid4vci: 'Issue credentials to wallets of OpenID for Verifiable Credential Issuance (OpenID4VCI 1.0)',
  oid4vp: 'Verify presentations of wallets of OpenID for Verifiable Presentations (OpenID4VP 1.0)',
  'issuer-certificates': 'Issuing keys with X.509 certificates: requests, chains, a development authority',
  'present-proof': 'Request, present and accept proofs',
  'credential-status': 'Status lists and revocation',
  'schema-registry': 'Schemas of credentials',
  'credential-definition-registry': 'Credential definitions (AnonCreds)',
  vdr: 'Entries of the verifiable data registry',
  verification: 'Verify credentials; verification policies',
  'trust-anchors': 'Trusted authorities and issuers',
  'presentation-exchange': 'Presentation definitions (DIF Presentation Exchange)',
  messages: 'Basic messages over connections',
  didcomm: 'DIDComm messages: unpack, ping',
  events: 'Events, the event stream, and webhooks',
  traces: 'What a record did and waits for',
  onboard: 'Request a DID of another wallet, or submit one (enterprise suite)',
  'did-authentication': 'Sign in with a DID (enterprise suite)',
  wallets: 'Wallets of tenants, their export and import',
  iam: 'Tenants’ entities and API keys (administrator)',
  audit: 'The audit log (administrator)',
  _system: 'Health, diagnosis, backups and the master key',
  invitation: 'The page of an invitation, and its content',
  i: 'Short URLs of invitations, DID requests and challenges',
  o: 'Short URLs of credential offers',
  r: 'Short URLs of presentation requests',
  web: 'Documents of did:web DIDs',
  api: 'The DID ledger, as a NeoPRISM node',
  '.well-known': 'Public keys of sign-in tokens, metadata of OpenID4VCI issuers and of the OpenID provider',
  'credential-types': 'Types of credentials that the wallet issues or holds',
  docs: 'This reference, its document, and the start page',
}

export const tags: readonly { name: string; description: string }[] = Object.entries(descriptions).map(
  ([name, description]) => ({ name, description }),
)

/**
 * The tag of an operation: the first segment of its path. The start page and its icon belong to the
 * documentation.
 */
export function tagOf(path: string): string {
  const segment = path.split('/')[1]!
  return Object.hasOwn(descriptions, segment) ? segment : 'docs'
}
