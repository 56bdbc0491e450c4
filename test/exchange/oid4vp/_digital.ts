/**
 * A wallet as a page gets it from the Digital Credentials API: requests, and responses that differ from valid
 * ones.
 */
import { CompactEncrypt, importJWK } from 'jose'
import { ask, type Reply } from '../../support/ask.ts'
import {
  decodeJwt,
  presentSdJwt,
  requestProof,
  type Presented,
  type RequestOptions,
  type Verifier,
} from './_wallet.ts'

export const shop = 'https://shop.example'

/** Requests the credential `person` by pages of the shop, or others. */
export async function askedDigitally(verifier: Pick<Verifier, 'tenant'>, options: RequestOptions = {}) {
  const { presentationId, openid4vp } = await requestProof(verifier, {
    responseMode: 'dc_api',
    origins: [shop],
    ...options,
  })
  const { digitalRequest, pageUrl } = openid4vp!
  const { protocol, data } = digitalRequest!
  const request = typeof data['request'] === 'string' ? decodeJwt(data['request']).payload : data
  return { presentationId, pageUrl, openid4vp: openid4vp!, protocol, request }
}
export type AskedDigitally = Awaited<ReturnType<typeof askedDigitally>>

/** The content of a response: one presentation for the origin. */
export async function answerTo(request: any, origin = shop, presented: Presented = {}) {
  const binding = { aud: `origin:${origin}`, ...presented.binding }
  return { vp_token: { person: [await presentSdJwt(request, { ...presented, binding })] } }
}

type Encryption = { key?: object; kid?: string; header?: object }

/** Encrypts the content of a response to the key of a request, or another. */
export async function encryptTo(request: any, content: object, changes: Encryption = {}): Promise<string> {
  const [own] = request.client_metadata.jwks.keys
  const { key = own, kid = own.kid, header } = changes
  return new CompactEncrypt(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A128GCM', kid, ...header })
    .encrypt(await importJWK({ ...key }, 'ECDH-ES'))
}

/** Sends a response as the tenant whose page got it. */
export function submit(
  { agent, tenant }: Pick<Verifier, 'agent' | 'tenant'>,
  { presentationId, protocol }: Pick<AskedDigitally, 'presentationId' | 'protocol'>,
  data: object,
  more: object = {},
): Promise<Reply> {
  const path = `/present-proof/presentations/${presentationId}/digital-credential`
  const body = JSON.stringify({ protocol, data, ...more })
  return ask(agent, `POST ${path}`, { body, apiKey: tenant.apiKey })
}

/** Sends a response as the page of the request does. */
export function submitFromPage(
  { pageUrl, protocol }: { pageUrl: string; protocol: string },
  data: object,
  origin: string | undefined,
): Promise<Reply> {
  const url = pageUrl.replace(/page$/, 'digital-credential')
  const body = JSON.stringify({ protocol, data })
  return ask({ url: '' }, `POST ${url}`, { body, headers: origin === undefined ? {} : { origin } })
}
