/** The verifier as a client (OpenID4VP 1.0 §5.9): its identifier, and the key that signs its requests. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../foundation/json.ts'
import { Problem } from '../../foundation/problem.ts'
import { signJws } from '../../credentials/codecs/jws.ts'
import { getManagedDid } from '../../wallet/did-registrar/dids.ts'
import { getSigningKey } from '../../wallet/did-registrar/keys.ts'
import { getCertificate } from '../../wallet/issuer-certificates/certificates.ts'
import { signWithCertificate, x5cOf } from '../../wallet/issuer-certificates/signatures.ts'
import type { StoredOpenId4Vp } from '../presentation/openid4vp.ts'
import type { RequestByOpenId4Vp } from './requests.ts'
import type { Wallet } from '../../wallet/wallet.ts'

export const clientIdPrefixes = [
  'redirect_uri',
  'decentralized_identifier',
  'x509_san_dns',
  'x509_hash',
] as const
export type ClientIdPrefix = (typeof clientIdPrefixes)[number]

/** The tenant's choice of a client. The prefix fits the other members. */
type ClientChoice = Pick<RequestByOpenId4Vp, 'clientIdPrefix'> &
  Partial<Pick<RequestByOpenId4Vp, 'did' | 'keyId' | 'certificateId'>>

export type Client = { clientId: string; signer: StoredOpenId4Vp['signer'] }

/** @throws {Problem} if the DID or the certificate cannot sign for this agent */
async function chooseClient(
  wallet: Wallet,
  { clientIdPrefix: prefix, did, keyId, certificateId }: ClientChoice,
  responseUri: string,
): Promise<Client> {
  if (did !== undefined) {
    const { keyId: id } = await getSigningKey(wallet, did, 'authentication', keyId, 'P-256')
    const managed = await getManagedDid(wallet.db, did)
    // Others cannot resolve the short form of a did:prism that is not published.
    const resolvable = managed.status === 'PUBLISHED' ? managed.did : managed.longForm
    return { clientId: `${prefix}:${resolvable}`, signer: { did: resolvable, keyId: id } }
  }
  if (certificateId === undefined) return { clientId: `${prefix}:${responseUri}`, signer: undefined }
  const certificate = await getCertificate(wallet.db, certificateId)
  const [leaf] = x5cOf(certificate)
  const signer = { certificateId }
  if (prefix === 'x509_hash') {
    const hash = createHash('sha256').update(Buffer.from(leaf!, 'base64')).digest('base64url')
    return { clientId: `${prefix}:${hash}`, signer }
  }
  const { hostname } = new URL(responseUri)
  const isNamed = certificate.names.some(({ type, value }) => type === 'dns' && value === hostname)
  if (!isNamed)
    throw new Problem(
      'BadRequest',
      `certificateId: the certificate has no DNS name ${hostname}, the host to which wallets send responses. Use the prefix x509_hash, or a certificate for that name.`,
    )
  return { clientId: `${prefix}:${hostname}`, signer }
}

/**
 * The DID and the certificate, of a request that both sign; otherwise the one client.
 *
 * @throws {Problem} as `chooseClient`
 */
export async function chooseClients(
  wallet: Wallet,
  choice: ClientChoice,
  responseUri: string,
): Promise<[Client, ...Client[]]> {
  const { did, keyId, certificateId, clientIdPrefix } = choice
  if (did === undefined || certificateId === undefined)
    return [await chooseClient(wallet, choice, responseUri)]
  const byDid = { clientIdPrefix: 'decentralized_identifier', did, keyId } as const
  return [
    await chooseClient(wallet, byDid, responseUri),
    await chooseClient(wallet, { clientIdPrefix, certificateId }, responseUri),
  ]
}

const typ = 'oauth-authz-req+jwt'

/**
 * Signs a Request Object (RFC 9101 §4).
 *
 * @param parameters of the protected header
 * @throws {Problem} if DID or certificate cannot sign any more
 */
export async function signRequest(
  wallet: Wallet,
  signer: NonNullable<Client['signer']>,
  payload: object,
  parameters?: JsonObject,
): Promise<string> {
  const header = { typ, parameters }
  if ('certificateId' in signer) return signWithCertificate(wallet, signer.certificateId, header, payload)
  const { privateJwk } = await getSigningKey(wallet, signer.did, 'authentication', signer.keyId)
  return signJws({ ...header, kid: `${signer.did}#${signer.keyId}` }, payload, privateJwk)
}
