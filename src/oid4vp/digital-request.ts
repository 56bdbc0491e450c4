/** Requests for the Digital Credentials API (OpenID4VP 1.0 Appendix A.2, A.3): unsigned, or signed with the origins that may use them. */
import * as z from 'zod'
import type { JsonObject } from '../base/json.ts'
import { isPublicUrl } from '../net/public-url.ts'
import type { DigitalRequest } from '../protocols/present-proof/digital-credentials.ts'
import type { StoredOpenId4Vp } from '../protocols/present-proof/openid4vp.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { anyWallet, askedParameters } from './authorization-request.ts'
import { signRequest } from './client.ts'

/** The origin of a page, as browsers write it. Without https, only hosts of private networks are accepted (A.2). */
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
  .refine((text) => text.startsWith('https:') || !isPublicUrl(text), 'must use https')

type Parts = Parameters<typeof askedParameters>[0] &
  Pick<StoredOpenId4Vp, 'clientId' | 'responseMode' | 'signer' | 'expiresTime'> & {
    origins: readonly string[]
  }

/** @throws {Problem} if DID or certificate cannot sign */
export async function toDigitalRequest(
  wallet: Wallet,
  { clientId, responseMode, signer, expiresTime, origins, ...asked }: Parts,
): Promise<DigitalRequest> {
  const parameters: JsonObject = { ...askedParameters(asked), response_mode: responseMode }
  // Wallets know the origin of an unsigned request from the platform alone.
  if (!signer) return { protocol: 'openid4vp-v1-unsigned', data: parameters as DigitalRequest['data'] }
  const request = await signRequest(wallet, signer, {
    ...parameters,
    client_id: clientId,
    expected_origins: origins,
    aud: anyWallet,
    iat: Math.floor(Date.now() / 1_000),
    exp: expiresTime,
  })
  return { protocol: 'openid4vp-v1-signed', data: { request } }
}
