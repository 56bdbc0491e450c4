/** A Token Status List at a server of the test. */
import { compressStatuses, signTokenStatusList } from '../../../src/credentials/codecs/token-status-list.ts'
import { startServer } from '../../support/server.ts'

type Signed = Parameters<typeof signTokenStatusList>[0]
type Signer = Pick<Signed, 'issuer' | 'key' | 'kid' | 'x5c'>

/**
 * Serves a list of eight entries. `describe` says who signs it at a request, and the statuses by their
 * indexes; others are valid. `payloadOf` is the part of a credential that names an entry.
 */
export async function startStatusList(
  describe: () => Signer & { statuses?: [index: number, status: number][] },
) {
  const server = await startServer((_, response) => {
    const { statuses = [], ...signer } = describe()
    const lst = compressStatuses(statuses, 1, 8)
    const issuedAt = Math.floor(Date.now() / 1_000)
    const list = signTokenStatusList({ ...signer, url: server.url, bits: 1, lst, issuedAt, ttlSeconds: 60 })
    response.setHeader('content-type', 'application/statuslist+jwt').end(list)
  })
  return { ...server, payloadOf: (idx: number) => ({ status: { status_list: { idx, uri: server.url } } }) }
}
