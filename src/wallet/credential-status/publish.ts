/**
 * Publishes status lists: StatusList2021 as JSON for wallets, with the same bits as Bitstring Status List for
 * VC 2.0 and as Token Status List; and lists of SD-JWT VCs, as Token Status List only.
 *
 * A list is signed on request if it has changed since the last signature. Revocations are therefore visible
 * at once, and many of them cost one signature.
 */
import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { toPaddedBase64url } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { compressBits, createBitstringStatusList, listLength } from '../../credentials/codecs/bitstring.ts'
import {
  credentialsContext,
  proveStatusList,
  statusListContexts,
  type StatusList2021,
} from '../../credentials/codecs/status-list-2021.ts'
import { signStatusListCwt } from '../../credentials/codecs/status-list-cwt.ts'
import { compressStatuses, signTokenStatusList } from '../../credentials/codecs/token-status-list.ts'
import type { PrivateJwk } from '../../foundation/crypto/keys.ts'
import { type DidRow, getDidRow, readContent } from '../did-registrar/dids.ts'
import { findPrivateKey } from '../did-registrar/keys.ts'
import { getCertificateSigner } from '../issuer-certificates/signatures.ts'
import type { Wallet } from '../wallet.ts'
import { findList, isOnLedger, type ListMedia, revokedIndexes, type StatusList } from './lists.ts'

/** The time until the `exp` of a Token Status List, which is signed again after half of it. */
const lifetimeSeconds = 86_400

/**
 * The seconds for which verifiers may cache a Token Status List. Revocations take effect after them at the
 * latest.
 */
const ttlSeconds = 300

/** `etag` is an entity tag (RFC 9110 §8.8.3). */
export type PublishedList = { type: ListMedia; body: string | Uint8Array; etag: string }

/** Signed lists by id and media type. `version` consists of the list's revision and the state of the issuer. */
const published = new LRUCache<string, { version: string; list: Promise<PublishedList> }>({ max: 1_000 })

type ListIssuer = { version: string; findSigner: () => Promise<ListSigner> }
type ListSigner = { issuer: string; key: PrivateJwk } & ({ kid: string } | { kid?: never; x5c: string[] })

/**
 * Returns a signed list of a wallet, in the wanted form if it has several. Those of SD-JWT VCs and of issuer
 * certificates have one.
 *
 * @throws {Problem} 404 for an unknown list, or if the issuer has no key any more.
 */
export async function publishList(wallet: Wallet, id: string, wanted: ListMedia): Promise<PublishedList> {
  const row = await findList(wallet.db, id)
  if (!row) throw listNotFound(id)
  const isOfDid = row.did.startsWith('did:')
  const issuer = isOfDid ? await ofDid(wallet, row.did) : await ofCertificate(wallet, row.did)
  const media = mediaOf(row, isOfDid, wanted)
  const period = Math.floor(Date.now() / (lifetimeSeconds * 500))
  const version = `${row.revision} ${period} ${issuer.version}`
  const key = `${id} ${media}`
  const cached = published.get(key)
  if (cached?.version === version) return cached.list
  const list = sign(wallet, row, issuer, media)
  published.set(key, { version, list })
  list.catch(() => published.get(key)?.list === list && published.delete(key))
  return list
}

/** Lists of certificates are JWTs, or CWTs for documents. A DID signs no CWT. */
function mediaOf({ media }: StatusList, isOfDid: boolean, wanted: ListMedia): ListMedia {
  const isCwt = wanted === 'application/statuslist+cwt'
  if (!isOfDid) return isCwt ? wanted : 'application/statuslist+jwt'
  return (media as ListMedia | '') || (isCwt ? 'application/statuslist+jwt' : wanted)
}

export function listNotFound(id: string): Problem {
  return new Problem(
    'error:CredentialStatusListError:StatusListNotFound',
    `There is no status list ${id.slice(0, 100)}.`,
  )
}

async function ofDid(wallet: Wallet, did: string): Promise<ListIssuer> {
  const row = await getDidRow(wallet.db, did)
  // Others cannot resolve the short form before the DID is published.
  const issuer = row.status === 'PUBLISHED' ? row.did : (row.long_form ?? row.did)
  return {
    version: `${row.status} ${row.state}`,
    async findSigner() {
      const { keyId, key } = await findListKey(wallet, row)
      return { issuer, key, kid: `${issuer}#${keyId}` }
    },
  }
}

/** @throws {Problem} 404 when the certificate is removed or has ended */
async function ofCertificate(wallet: Wallet, id: string): Promise<ListIssuer> {
  try {
    const signer = await getCertificateSigner(wallet, id, [undefined, 'mdoc'])
    return { version: signer.version, findSigner: () => Promise.resolve(signer) }
  } catch (cause) {
    if (!(cause instanceof Problem)) throw cause
    throw new Problem('error:CredentialStatusListError:StatusListNotFound', cause.message, { cause })
  }
}

async function sign(
  wallet: Wallet,
  list: StatusList,
  { findSigner }: ListIssuer,
  type: ListMedia,
): Promise<PublishedList> {
  const { id, url } = list
  const signer = await findSigner()
  const { issuer, key } = signer
  const revoked = await revokedIndexes(wallet.db, id)
  if (type === 'application/statuslist+jwt' || signer.kid === undefined) {
    const lst = compressStatuses(
      revoked.map((index) => [index, 1] as const),
      1,
      listLength,
    )
    const issuedAt = Math.floor(Date.now() / 1_000)
    // An entry on the ledger is not signed again without a change.
    const times = {
      issuedAt,
      ttlSeconds,
      ...(!isOnLedger(list) && { expiresAt: issuedAt + lifetimeSeconds }),
    }
    if (type === 'application/statuslist+cwt' && signer.kid === undefined)
      return withEtag(
        type,
        signStatusListCwt({
          url,
          x5c: signer.x5c,
          key,
          bits: 1,
          lst,
          ...times,
          expiresAt: issuedAt + lifetimeSeconds,
        }),
      )
    return withEtag(type, signTokenStatusList({ url, ...signer, bits: 1, lst, ...times }))
  }
  const bits = compressBits(revoked)
  // Without fractions of a second, as wallets expect.
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  const body =
    type === 'application/json'
      ? JSON.stringify(toJson(url, issuer, bits, key, now))
      : createBitstringStatusList({ url, issuerDid: issuer, kid: signer.kid, key, bits, validFrom: now })
  return withEtag(type, body)
}

function withEtag(type: ListMedia, body: string | Uint8Array): PublishedList {
  return { type, body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** `issuanceDate` is RFC 3339, as the standard and wallets require. The Cloud Agent writes seconds. */
function toJson(id: string, issuer: string, bits: Uint8Array, key: PrivateJwk, now: string): object {
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

/** Finds an assertionMethod key, preferably of secp256k1, because some wallets verify no other curve. */
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
    `The issuer ${did} has no key that can sign its status list.`,
  )
}

function rank(curve: string): number {
  return curve === 'secp256k1' ? 0 : 1
}
