/**
 * A status list as anybody reads it: for wallets a StatusList2021 credential as JSON, for VC 2.0 a Bitstring Status List as JWT, of the same bits.
 *
 * A list is signed when it is asked for and differs from what was signed last: so a revocation shows at once, and a thousand of them cost
 * one signature.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { toPaddedBase64url } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { compressBits } from '../credentials/bitstring.ts'
import { createBitstringStatusList } from '../credentials/bitstring-status-list.ts'
import {
  credentialsContext,
  statusListContexts,
  type StatusList2021,
} from '../credentials/status-list-2021.ts'
import { proveStatusList } from '../credentials/status-list-proof.ts'
import type { PrivateJwk } from '../crypto/keys.ts'
import { type DidRow, getDidRow, readContent } from '../did-registrar/dids.ts'
import { findPrivateKey } from '../did-registrar/keys.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { findList, revokedIndexes, type StatusList } from './lists.ts'

export const listMedia = ['application/json', 'application/vc+jwt'] as const
export type ListMedia = (typeof listMedia)[number]

/** `etag` is an entity tag (RFC 9110 §8.8.3). */
export type PublishedList = { body: string; etag: string }

/** Lists by id and media type, each with what it was made of: its revision, and the DID's keys. Ids are never made twice. */
const published = new LRUCache<string, { madeOf: string; list: Promise<PublishedList> }>({ max: 1_000 })

/** A list of a wallet, signed by its DID. @throws {Problem} 404 when there is none, or nobody can sign for the DID any more. */
export async function publishList(wallet: Wallet, id: string, media: ListMedia): Promise<PublishedList> {
  const row = await findList(wallet.db, id)
  if (!row) throw noList(id)
  const issuer = await getDidRow(wallet.db, row.did)
  const madeOf = `${row.revision} ${issuer.status} ${issuer.state}`
  const key = `${id} ${media}`
  const known = published.get(key)
  if (known?.madeOf === madeOf) return known.list
  const list = sign(wallet, row, issuer, media)
  published.set(key, { madeOf, list })
  list.catch(() => published.get(key)?.list === list && published.delete(key))
  return list
}

/** No such list. */
export function noList(id: string): Problem {
  return new Problem(
    'error:CredentialStatusListError:StatusListNotFound',
    `There is no status list ${id.slice(0, 100)} here.`,
  )
}

async function sign(
  wallet: Wallet,
  { id, url }: StatusList,
  issuer: DidRow,
  media: ListMedia,
): Promise<PublishedList> {
  const { keyId, key } = await findListKey(wallet, issuer)
  const bits = compressBits(await revokedIndexes(wallet.db, id))
  // While nobody else can resolve the short form, only the long form proves anything.
  const issuerDid = issuer.status === 'PUBLISHED' ? issuer.did : (issuer.long_form ?? issuer.did)
  // As the wallets' parsers have it: without parts of a second.
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  const body =
    media === 'application/json'
      ? JSON.stringify(toJson({ url, issuerDid, bits, now }, key))
      : createBitstringStatusList({ url, issuerDid, kid: `${issuerDid}#${keyId}`, key, bits, validFrom: now })
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** The instant of issuance is a text, as the standard and typed wallets want it; the real agent writes seconds (wire.md 8.3). */
function toJson(
  {
    url: id,
    issuerDid: issuer,
    bits,
    now,
  }: { url: string; issuerDid: string; bits: Uint8Array; now: string },
  key: PrivateJwk,
) {
  const list: StatusList2021 = {
    '@context': [credentialsContext, statusListContexts[0]],
    id,
    type: ['VerifiableCredential', 'StatusList2021Credential'],
    issuer,
    issuanceDate: now,
    credentialSubject: {
      type: 'StatusList2021',
      statusPurpose: 'Revocation',
      encodedList: toPaddedBase64url(bits),
    },
  }
  return { ...list, proof: proveStatusList(list, key, now) }
}

/** An assertion key of the DID: one of secp256k1 if it has one, since some wallets verify no other (wire.md 8.3). */
async function findListKey(
  wallet: Wallet,
  { did, did_index, state }: DidRow,
): Promise<{ keyId: string; key: PrivateJwk }> {
  const { publicKeys, deactivated } = readContent(state)
  const keys = deactivated ? [] : publicKeys.filter(({ usage }) => usage === 'assertionMethod')
  for (const candidate of keys.toSorted((a, b) => rank(a.publicKey.crv) - rank(b.publicKey.crv))) {
    const key = await findPrivateKey(wallet, did, did_index, candidate)
    if (key) return { keyId: candidate.id, key }
  }
  throw new Problem(
    'error:CredentialStatusListError:StatusListNotFound',
    `The issuer ${did} has no key to sign its status list with any more.`,
  )
}

function rank(curve: string): number {
  return curve === 'secp256k1' ? 0 : 1
}
