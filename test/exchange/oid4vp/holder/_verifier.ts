/** A verifier of the test: it signs what the test wants, serves it, and records the responses. */
import { createHash } from 'node:crypto'
import { newId } from '../../../../src/foundation/id.ts'
import { generateKey, type PrivateJwk, toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { startServer, withBody } from '../../../support/server.ts'
import { authority, make, type Made, type Options, x5cOf } from '../../../foundation/x509/_chains.ts'
import { signJwt } from '../_wallet.ts'
import { credentialQuery } from './_holder.ts'

export type Fetched = { method: string; form: URLSearchParams; headers: Record<string, unknown>; url: string }

export async function openVerifier() {
  const requests = new Map<string, (fetched: Fetched) => string>()
  const fetched: Fetched[] = []
  const responses: URLSearchParams[] = []
  const script = { status: 200, body: '{}' }
  const server = await startServer(
    withBody((body, { url = '', method = '', headers }, response) => {
      const form = new URLSearchParams(body)
      const serve = requests.get(url)
      if (serve) {
        fetched.push({ method, form, headers, url })
        response.writeHead(200, { 'content-type': 'application/oauth-authz-req+jwt' })
        response.end(serve(fetched.at(-1)!))
        return
      }
      responses.push(form)
      response.writeHead(script.status, { 'content-type': 'application/json' })
      response.end(script.body)
    }),
  )
  const responseUri = `${server.url}/response`
  const key = generateKey('P-256')
  const did = createJwkDid(toPublic(key))
  /** The parameters of a valid request. */
  const parameters = (changes: object = {}) => ({
    client_id: `decentralized_identifier:${did}`,
    response_type: 'vp_token',
    response_mode: 'direct_post',
    response_uri: responseUri,
    nonce: newId(),
    aud: 'https://self-issued.me/v2',
    dcql_query: { credentials: [credentialQuery()] },
    ...changes,
  })
  return {
    ...server,
    did,
    key,
    responseUri,
    responses,
    fetched,
    /** The next replies to responses. */
    script,
    parameters,
    /** Forgets the responses, and replies with 200 again. */
    reset() {
      responses.length = 0
      Object.assign(script, { status: 200, body: '{}' })
    },
    /** A Request Object that the DID has signed. Members that are undefined are left out. */
    sign: (changes: object = {}, header: object = {}, signer: PrivateJwk = key) =>
      signJwt(
        { typ: 'oauth-authz-req+jwt', kid: `${did}#0`, ...header },
        JSON.parse(JSON.stringify(parameters(changes))),
        signer,
      ),
    /** Serves a Request Object, and returns the URL of the authorization request. */
    offer(
      object: string | ((fetched: Fetched) => string),
      { method, clientId = `decentralized_identifier:${did}` }: { method?: string; clientId?: string } = {},
    ): string {
      const path = `/request/${newId()}`
      requests.set(path, typeof object === 'string' ? () => object : object)
      return toUrl({
        client_id: clientId,
        request_uri: server.url + path,
        ...(method !== undefined && { request_uri_method: method }),
      })
    },
  }
}
export type OpenVerifier = Awaited<ReturnType<typeof openVerifier>>

/** The origin of a verifier's page. */
export const shop = 'https://shop.example'

/** The parameters of a request of the Digital Credentials API. Members that are undefined are left out. */
export function digitalParameters(changes: object = {}): object {
  const parameters = {
    response_type: 'vp_token',
    response_mode: 'dc_api',
    nonce: newId(),
    dcql_query: { credentials: [credentialQuery()] },
    ...changes,
  }
  return JSON.parse(JSON.stringify(parameters)) as object
}

export const signedBy = (request: string | object) => ({
  protocol: typeof request === 'string' ? 'openid4vp-v1-signed' : 'openid4vp-v1-multisigned',
  data: { request },
})

/** A request of the Digital Credentials API that the DID has signed. */
export function digitallySigned({ did, key }: Pick<OpenVerifier, 'did' | 'key'>, changes: object = {}) {
  const payload = { client_id: `decentralized_identifier:${did}`, expected_origins: [shop], ...changes }
  const header = { typ: 'oauth-authz-req+jwt', kid: `${did}#0` }
  return signedBy(signJwt(header, digitalParameters(payload), key))
}

type Signer = { key: PrivateJwk; header: object }

/** A request that several clients have signed (OpenID4VP 1.0 A.3.2.2). */
export function multisigned(signers: readonly Signer[], changes: object = {}) {
  const payload = digitalParameters({ expected_origins: [shop], ...changes })
  const parts = signers.map(({ key, header }) =>
    signJwt({ typ: 'oauth-authz-req+jwt', ...header }, payload, key).split('.'),
  )
  const signatures = parts.map(([header, , signature]) => ({ protected: header!, signature: signature! }))
  return signedBy({ payload: parts[0]![1]!, signatures })
}

/** A DID that signs, as one of several. */
export function newSigner(): Signer {
  const key = generateKey('P-256')
  const did = createJwkDid(toPublic(key))
  return { key, header: { kid: `${did}#0`, client_id: `decentralized_identifier:${did}` } }
}

/** An authorization request with its parameters by value. */
export function toUrl(parameters: object): string {
  const texts = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  )
  return `openid4vp://?${new URLSearchParams(texts).toString()}`
}

/** The parameters of an unsigned request. */
export function unsigned(verifier: OpenVerifier, changes: object = {}) {
  const { aud: _, ...parameters } = verifier.parameters({ client_id: `redirect_uri:${verifier.responseUri}` })
  return { ...parameters, ...changes }
}

/**
 * A certificate of an authority that nobody trusts, by itself (`x5c`) and with its root (`whole`), and its
 * hash.
 */
export async function certified(names: { type: 'dns'; value: string }[], options: Options = {}, by?: Made) {
  const root = by ?? (await authority('CN=Authority'))
  const made = await make('CN=Verifier', root, { names, ...options })
  const jwk = (await crypto.subtle.exportKey('jwk', made.keys.privateKey)) as unknown as PrivateJwk
  const x5c = x5cOf(made)
  const hash = createHash('sha256').update(Buffer.from(x5c[0]!, 'base64')).digest('base64url')
  return { x5c, whole: x5cOf(made, root), hash, key: { ...toPublic(jwk), d: jwk.d } }
}
