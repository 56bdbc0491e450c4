/** Checks of the wallet as holder of OpenID4VP, each with a request of a verifier that it stops. */
import { generateKey } from '../../../../src/foundation/crypto/keys.ts'
import type { Tenant } from '../../../support/tenants.ts'
import { succeeds } from '../../oid4vci/holder/_checks.ts'
import { x509 } from '../../../../src/foundation/x509/issue.ts'
import type { Switch } from '../../oid4vci/_mutants.ts'
import type { Options } from '../../../foundation/x509/_chains.ts'
import { signJwt } from '../_wallet.ts'
import { credentialQuery, receive } from './_holder.ts'
import { certified, toUrl, unsigned, type OpenVerifier } from './_verifier.ts'

export type Scene = { holder: Tenant; verifier: OpenVerifier }

/** `attack` tells whether the wallet takes the request. */
export type Check = Switch & { attack: (scene: Scene) => Promise<boolean> }

const stranger = generateKey('P-256')

/** A signed request with other parameters, or another header, than a valid one. */
const signed = (file: string, text: string, changes: object, header: object = {}, off = 'false'): Check => ({
  file,
  text,
  off,
  attack: ({ holder, verifier }) => succeeds(receive(holder, verifier.offer(verifier.sign(changes, header)))),
})

/** A request by its URL. */
const asked = (
  file: string,
  text: string,
  toRequest: (verifier: OpenVerifier) => string | Promise<string>,
): Check => ({
  file,
  text,
  off: 'false',
  attack: async ({ holder, verifier }) => succeeds(receive(holder, await toRequest(verifier))),
})

/** A request with a certificate; `toIds` are the client ids of the URL and of the Request Object. */
const ofCertificate = (
  file: string,
  text: string,
  toIds: (made: { hash: string }) => [url: string, object: string],
  name = '127.0.0.1',
  options: Options = {},
): Check =>
  asked(file, text, async (verifier) => {
    const made = await certified([{ type: 'dns', value: name }], options)
    const [clientId, client_id] = toIds(made)
    const header = { typ: 'oauth-authz-req+jwt', x5c: made.x5c }
    return verifier.offer(signJwt(header, verifier.parameters({ client_id }), made.key), { clientId })
  })

const unbound = credentialQuery({ more: { require_cryptographic_holder_binding: false } })

export const checks: Check[] = [
  ofCertificate('request.ts', "received.parameters['client_id'] !== received.clientId", ({ hash }) => [
    `x509_hash:${hash}`,
    'x509_san_dns:127.0.0.1',
  ]),
  asked('request.ts', "walletNonce !== undefined && parameters['wallet_nonce'] !== walletNonce", (verifier) =>
    verifier.offer(verifier.sign({ wallet_nonce: 'old' }), { method: 'post' }),
  ),
  signed(
    'request.ts',
    'aud !== undefined && ![aud].flat().some((each) => each === anyWallet || each === requestUri)',
    { aud: 'https://a.example' },
  ),
  signed('request.ts', 'exp !== undefined && exp + leeway <= now', { exp: 1_000 }),
  signed('request.ts', '[iat, nbf].some((time) => time !== undefined && time - leeway > now)', { iat: 9e9 }),
  asked('request.ts', 'client.responseUri !== undefined && given !== client.responseUri', (verifier) =>
    toUrl(unsigned(verifier, { response_uri: `${verifier.responseUri}/other` })),
  ),
  ofCertificate(
    'request.ts',
    'client.responseHost !== undefined && url.hostname.toLowerCase() !== client.responseHost.toLowerCase()',
    () => ['x509_san_dns:verifier.example', 'x509_san_dns:verifier.example'],
    'verifier.example',
  ),
  signed('request.ts', "parameters['redirect_uri'] !== undefined", { redirect_uri: 'https://a.example' }),
  signed('request.ts', "data.response_type !== 'vp_token'", { response_type: 'vp_token id_token' }),
  signed('request.ts', "parameters['transaction_data'] !== undefined", { transaction_data: ['e30'] }),
  signed('request.ts', 'parameters[old] !== undefined', { presentation_definition: {} }),
  signed('request.ts', "parameters['scope'] !== undefined", { scope: 'person' }),
  signed('query.ts', '!data.credentials.some(({ format }) => formatOfId(format))', {
    dcql_query: { credentials: [{ id: 'a', format: 'ldp_vc', meta: {} }] },
  }),
  signed('query.ts', 'data.credentials.some(isUnbound) && state === undefined', {
    dcql_query: { credentials: [unbound] },
  }),
  asked('request-object.ts', 'request !== undefined && requestUri !== undefined', (verifier) => {
    const url = new URL(verifier.offer(verifier.sign()))
    url.searchParams.set('request', verifier.sign())
    return url.href
  }),
  asked(
    'request-object.ts',
    'method !== undefined && requestUri === undefined',
    (verifier) => `${toUrl(unsigned(verifier))}&request_uri_method=get`,
  ),
  asked(
    'request-object.ts',
    'repeated !== undefined',
    (verifier) => `${toUrl(unsigned(verifier))}&response_type=vp_token`,
  ),
  signed('request-object.ts', "!isMediaType(header['typ'], typ)", {}, { typ: 'JWT' }),
  signed('request-object.ts', "!['https:', 'http:'].includes(url.protocol)", {
    response_uri: 'ftp://verifier.example/response',
  }),
  signed('request-object.ts', "url.hash !== ''", { response_uri: 'https://verifier.example/#a' }),
  signed('request-object.ts', "url.username + url.password !== ''", {
    response_uri: 'https://a:b@verifier.example',
  }),
  signed('request-object.ts', "url.protocol === 'http:' && isPublicUrl(text)", {
    response_uri: 'http://verifier.example',
  }),
  {
    ...asked('client.ts', 'keys.find(({ publicKeyJwk }) => isSignedBy(jws, publicKeyJwk))', (verifier) =>
      verifier.offer(verifier.sign({}, {}, stranger)),
    ),
    off: 'keys[0]',
  },
  asked('client.ts', '!isSignedBy(jws, certificate.publicKey)', async (verifier) => {
    const { hash, x5c } = await certified([{ type: 'dns', value: '127.0.0.1' }])
    const client_id = `x509_hash:${hash}`
    const header = { typ: 'oauth-authz-req+jwt', x5c }
    const options = { clientId: client_id }
    return verifier.offer(signJwt(header, verifier.parameters({ client_id }), stranger), options)
  }),
  {
    ...ofCertificate(
      'client.ts',
      "checkX5c(jws.header.x5c, new Date(), 'verifier')",
      () => ['x509_san_dns:127.0.0.1', 'x509_san_dns:127.0.0.1'],
      '127.0.0.1',
      { extensions: [new x509.ExtendedKeyUsageExtension(['1.0.18013.5.1.2'], true)] },
    ),
    off: "checkX5c(jws.header.x5c, new Date(), 'issuer')",
  },
  ofCertificate('client.ts', '!isNamed', () => {
    const id = `x509_hash:${'a'.repeat(43)}`
    return [id, id]
  }),
  asked(
    'client.ts',
    "if (jws) throw invalid('Requests with the prefix redirect_uri cannot be signed: no key is known for it.')",
    (verifier) => {
      const clientId = `redirect_uri:${verifier.responseUri}`
      return verifier.offer(verifier.sign({ client_id: clientId }), { clientId })
    },
  ),
]
