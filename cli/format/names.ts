/** Names of things for people: how a connection is called, and the part of an id that tells it from others. */

type Named = {
  connectionId: string
  label?: string | undefined
  goal?: string | undefined
  theirDid?: string | undefined
}

/** The last characters of an id. Ids begin with the time, so the first ones are the same for all of a minute. */
export function shortId(id: string): string {
  return id.slice(-8)
}

/** A name that tells a connection from others: its label, the goal of its invitation, or the peer's host with the end of the id. */
export function connectionName({ connectionId, label, goal, theirDid }: Named): string {
  return label ?? goal ?? [hostOf(theirDid) ?? 'unnamed', shortId(connectionId)].join(' ')
}

/** Where a peer is reached, which a did:peer of the second kind says: a host, with a port that is not the usual one. */
function hostOf(did = ''): string | undefined {
  for (const [, service = ''] of did.startsWith('did:peer:2') ? did.matchAll(/\.S([\w=-]+)/g) : []) {
    const [, url] =
      /"(?:uri|s|serviceEndpoint)"\s*:\s*"([a-z]+:\/\/[^"]+)"/.exec(
        Buffer.from(service, 'base64url').toString(),
      ) ?? []
    if (url !== undefined && URL.canParse(url)) return new URL(url).host
  }
  return undefined
}
