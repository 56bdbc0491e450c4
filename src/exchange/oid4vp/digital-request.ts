/**
 * Requests for the Digital Credentials API: of OpenID4VP, unsigned or signed with the origins that may use
 * them (OpenID4VP 1.0 Appendix A.2, A.3), and of ISO/IEC TS 18013-7 Annex C.
 */
import * as z from 'zod'
import type { JsonObject } from '../../foundation/json.ts'
import { isPublicUrl } from '../../foundation/net/public-url.ts'
import { type PrivateJwk, toPublic } from '../../foundation/crypto/keys.ts'
import { makeAnnexCRequest } from '../../credentials/formats/mdoc/annex-c.ts'
import { findDeviceRequestFault } from '../../credentials/formats/mdoc/device-request.ts'
import { getCertificateSigner, readers } from '../../wallet/issuer-certificates/signatures.ts'
import { digitalFamilies, type DigitalRequest, isoMdoc } from '../presentation/digital-credentials.ts'
import type { StoredOpenId4Vp } from '../presentation/openid4vp.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { anyWallet, askedParameters } from './authorization-request.ts'
import { type Client, signRequest } from './client.ts'
import type { RequestByOpenId4Vp } from './requests.ts'

/**
 * The origin of a page, as browsers write it. Without https, only hosts of private networks are accepted
 * (A.2).
 */
export const WebOrigin = z
  .string()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).origin === text,
    {
      error: 'is not the origin of a page as browsers write it, such as https://shop.example',
      abort: true,
    },
  )
  .refine((text) => !new URL(text).hostname.includes('*'), {
    error: 'has a wildcard, which is in no page’s origin: name each origin',
    abort: true,
  })
  .refine((text) => text.startsWith('https:') || !isPublicUrl(text), 'must use https')

type Parts = Parameters<typeof askedParameters>[0] &
  Pick<StoredOpenId4Vp, 'responseMode' | 'expiresTime'> & {
    origins: readonly string[]
    /** Each that signs, or one that cannot. */
    clients: readonly [Client, ...Client[]]
  }

type Asked = Pick<RequestByOpenId4Vp, 'dcqlQuery' | 'transactionData'> &
  Partial<Pick<RequestByOpenId4Vp, 'protocols' | 'responseMode' | 'certificateId'>>

/** Why `org-iso-mdoc` cannot ask for something, with its place. Undefined if it can. */
export function findIsoMdocFault({ dcqlQuery, transactionData }: Asked): string | undefined {
  if (transactionData) return 'transactionData: an mdoc does not sign transactions'
  const fault = findDeviceRequestFault(dcqlQuery)
  return fault === undefined ? undefined : `dcqlQuery.${fault}`
}

/** Whether a request is also asked by `org-iso-mdoc`. */
export function asksByIsoMdoc(asked: Asked): boolean {
  const { responseMode = '', protocols = digitalFamilies } = asked
  return (
    responseMode.startsWith('dc_api') && protocols.includes(isoMdoc) && findIsoMdocFault(asked) === undefined
  )
}

/**
 * The request by each of its protocols.
 *
 * @param encryption the key for the response, of a request by `org-iso-mdoc`
 * @throws {Problem} if DID or certificate cannot sign
 */
export async function toDigitalRequests(
  wallet: Wallet,
  asked: Asked,
  parts: Parts,
  encryption: { privateJwk: PrivateJwk } | undefined,
): Promise<Pick<StoredOpenId4Vp, 'digitalRequest' | 'isoMdocRequest'>> {
  const { protocols = digitalFamilies } = asked
  return {
    ...(protocols.includes('openid4vp') && { digitalRequest: await toDigitalRequest(wallet, parts) }),
    ...(asksByIsoMdoc(asked) && {
      isoMdocRequest: await toIsoMdocRequest(wallet, asked, parts.origins, encryption!.privateJwk),
    }),
  }
}

/**
 * The signature of a certificate covers the origin. A request for several pages is not signed, and a DID
 * cannot sign.
 */
async function toIsoMdocRequest(
  wallet: Wallet,
  { dcqlQuery, certificateId }: Asked,
  origins: readonly string[],
  key: PrivateJwk,
): Promise<DigitalRequest> {
  const [origin] = origins as [string]
  const isSigned = certificateId !== undefined && origins.length === 1
  const signer = isSigned ? await getCertificateSigner(wallet, certificateId, readers) : undefined
  return {
    protocol: isoMdoc,
    data: makeAnnexCRequest(dcqlQuery, toPublic(key), signer && { ...signer, origin }),
  }
}

async function toDigitalRequest(
  wallet: Wallet,
  { responseMode, expiresTime, origins, clients, ...asked }: Parts,
): Promise<DigitalRequest> {
  const parameters: JsonObject = { ...askedParameters(asked), response_mode: responseMode }
  const [{ clientId, signer }, ...others] = clients
  // Wallets know the origin of an unsigned request from the platform alone.
  if (!signer) return { protocol: 'openid4vp-v1-unsigned', data: parameters as DigitalRequest['data'] }
  const payload = {
    ...parameters,
    expected_origins: origins,
    aud: anyWallet,
    iat: Math.floor(Date.now() / 1_000),
    exp: expiresTime,
  }
  if (others.length > 0)
    return {
      protocol: 'openid4vp-v1-multisigned',
      data: { request: await signByAll(wallet, clients, payload) },
    }
  const request = await signRequest(wallet, signer, { ...payload, client_id: clientId })
  return { protocol: 'openid4vp-v1-signed', data: { request } }
}

/**
 * A general JWS (RFC 7515 §7.2.1). Client id and attestations are in the protected header of each signature
 * (A.3.2.2).
 */
async function signByAll(
  wallet: Wallet,
  clients: readonly Client[],
  { verifier_info, ...payload }: JsonObject,
): Promise<{ payload: string; signatures: { protected: string; signature: string }[] }> {
  const objects = clients.map(({ clientId, signer }) =>
    signRequest(wallet, signer!, payload, { client_id: clientId, verifier_info }),
  )
  const parts = (await Promise.all(objects)).map((text) => text.split('.') as [string, string, string])
  const signatures = parts.map(([header, , signature]) => ({ protected: header, signature }))
  return { payload: parts[0]![1], signatures }
}
