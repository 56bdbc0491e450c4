/**
 * An issuer of OpenID4VCI 1.0 as tests need it: it answers as the specification says, and each document,
 * response and credential can be replaced. It signs with a did:jwk.
 */
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { issueJwtVc } from '../../../../src/credentials/codecs/jwt-vc.ts'
import { decodeJws, signJws } from '../../../../src/credentials/codecs/jws.ts'
import { issueSdJwtVc } from '../../../../src/credentials/codecs/sd-jwt/sd-jwt-vc.ts'
import { decodeHeader } from '../../../../src/credentials/codecs/jws.ts'
import { generateKey, toPublic, type PublicJwk } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid, resolveJwkDid } from '../../../../src/did/jwk.ts'
import { didOf } from '../../../../src/did/document.ts'
import { photoId } from '../../../foundation/x509/_mdoc.ts'
import { startServer } from '../../../support/server.ts'
import { signDocument } from '../../documents/_iso-wallet.ts'
import { preAuthorizedGrant } from '../_wallet.ts'

export type Seen = { method: string; path: string; headers: IncomingMessage['headers']; body: string }
export type Reply = { status?: number; headers?: Record<string, string | string[]>; body?: unknown }
/** Replaces a response; `usual` is that of the specification. */
export type Answer = (seen: Seen, usual: Reply) => Reply | Promise<Reply>

export const vct = 'https://issuer.example/licence'
export type Configuration = 'Licence' | 'Person' | 'Document'
export const format = { sdjwt: 'Licence', jwt: 'Person' } as const

export type FakeIssuer = Awaited<ReturnType<typeof startFakeIssuer>>

/** The parts of a credential that an attack changes. */
export type Changes = {
  holderKey?: PublicJwk
  vct?: string
  integrity?: string
  issuedAt?: number
  expiresAt?: number
  signer?: PrivateKey
  subject?: string
  name?: string
  typ?: string
  cnf?: object
}
type PrivateKey = ReturnType<typeof generateKey>

/** `path` is that of the identifier. */
export async function startFakeIssuer(path = '/acme') {
  const key = generateKey('P-256')
  const did = createJwkDid(toPublic(key))
  const seen: Seen[] = []
  const answers: Record<string, Answer> = {}
  const server = await startServer(async (request, response) => {
    const url = new URL(request.url!, 'http://127.0.0.1')
    const each = {
      method: request.method!,
      path: url.pathname,
      headers: request.headers,
      body: await text(request),
    }
    seen.push(each)
    const usual = usualReply(each)
    const { status = 200, headers = {}, body } = (await answers[each.path]?.(each, usual)) ?? usual
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}))
  })
  const identifier = server.url + path
  const folder = path.replace(/\/$/, '')
  const at = (name: string) => `${server.url}${folder}/${name}`

  const metadata = {
    credential_issuer: identifier,
    credential_endpoint: at('credential'),
    nonce_endpoint: at('nonce'),
    deferred_credential_endpoint: at('deferred'),
    notification_endpoint: at('notification'),
    display: [{ name: 'Acme', locale: 'en' }],
    credential_configurations_supported: {
      Licence: {
        format: 'dc+sd-jwt',
        scope: 'licence',
        vct,
        cryptographic_binding_methods_supported: ['jwk'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
        credential_metadata: { claims: [{ path: ['name'], display: [{ name: 'Full name' }] }] },
      },
      Person: {
        format: 'jwt_vc_json',
        scope: 'person',
        credential_definition: { type: ['VerifiableCredential'] },
        cryptographic_binding_methods_supported: ['did:jwk'],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
      },
      Document: {
        format: 'mso_mdoc',
        scope: 'document',
        doctype: photoId,
        cryptographic_binding_methods_supported: ['cose_key'],
        credential_signing_alg_values_supported: [-7],
        proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
      },
    },
  }
  const authorization = {
    issuer: identifier,
    token_endpoint: at('token'),
    authorization_endpoint: at('authorize'),
    authorization_response_iss_parameter_supported: true,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  }

  function usualReply({ path: asked, body }: Seen): Reply {
    if (asked === `/.well-known/openid-credential-issuer${folder}`) return { body: metadata }
    if (asked === `/.well-known/oauth-authorization-server${folder}`) return { body: authorization }
    if (asked === `${folder}/token`)
      return { body: { access_token: 'token', token_type: 'Bearer', expires_in: 600 } }
    if (asked === `${folder}/nonce`) return { body: { c_nonce: 'nonce' } }
    if (asked === `${folder}/notification`) return { status: 204 }
    // It has no key for an encrypted request, which a test answers itself.
    if (asked === `${folder}/credential` && body.startsWith('{'))
      return { body: { credentials: [{ credential: issue(body) }], notification_id: 'n' } }
    return { status: 404 }
  }

  /** The credential of a request. */
  function issue(body: string, changes: Changes = {}): string {
    const request = JSON.parse(body) as CredentialRequest
    const [proven] = keysIn(request)
    const { holderKey = proven, signer = key } = changes
    const now = Math.floor(Date.now() / 1_000)
    const claims = { name: changes.name ?? 'Alice' }
    if (request.credential_configuration_id === 'Document')
      return signDocument(photoId, { [photoId]: claims }, holderKey!)
    if (request.credential_configuration_id === 'Person')
      return issueJwtVc({
        issuerDid: did,
        issuerKey: signer,
        subjectDid: changes.subject ?? createJwkDid(toPublic(proven!)),
        claims,
        schemas: [],
        now,
      })
    const credential = issueSdJwtVc({
      issuer: did,
      issuerKey: signer,
      kid: `${did}#0`,
      claims,
      type: { vct: changes.vct ?? vct },
      integrity: changes.integrity,
      holderKey: holderKey!,
      issuedAt: changes.issuedAt ?? now - 60,
      expiresAt: changes.expiresAt ?? now + 3_600,
    })
    const [jwt, ...rest] = credential.split('~')
    const { typ = 'dc+sd-jwt', cnf } = changes
    const payload = { ...decodeJws(jwt!).payload, ...(cnf && { cnf }) }
    return [signJws({ typ, kid: `${did}#0` }, payload, signer), ...rest].join('~')
  }

  return {
    ...server,
    identifier,
    did,
    metadata,
    authorization,
    seen,
    /** The requests to an endpoint. */
    at: (name: string) => seen.filter((each) => each.path === `${folder}/${name}`),
    issue,
    /** Replaces the response of an endpoint, or of a metadata document by its well-known name. */
    on(name: string, answer: Answer) {
      const [, known, slash = ''] = /^(o.*?)(\/?)$/.exec(name) ?? []
      answers[known === undefined ? `${folder}/${name}` : `/.well-known/${known}${folder}${slash}`] = answer
    },
    /** How an endpoint answers now. */
    answerOf: (name: string): Answer => answers[`${folder}/${name}`]!,
    reset() {
      for (const name of Object.keys(answers)) delete answers[name]
      seen.length = 0
    },
    /** The JSON of an offer; `more` replaces members. */
    offer(configuration: Configuration = 'Licence', more: object = {}): string {
      return JSON.stringify({
        credential_issuer: identifier,
        credential_configuration_ids: [configuration],
        grants: { [preAuthorizedGrant]: { 'pre-authorized_code': 'code' } },
        ...more,
      })
    },
  }
}

/** Members of an offer whose code has more parameters. */
export const withCode = (more: object) => ({
  grants: { [preAuthorizedGrant]: { 'pre-authorized_code': 'code', ...more } },
})
/** Members of an offer that needs a transaction code. */
export const withTxCode = (tx_code: object = {}) => withCode({ tx_code })

type CredentialRequest = {
  credential_configuration_id: string
  proofs?: { jwt?: string[]; attestation?: string[] }
}

/** The keys that the proofs of a request name: those of its `jwt`s, or those of its attestation. */
export function keysIn({
  proofs: { jwt = [], attestation = [] } = {},
}: Pick<CredentialRequest, 'proofs'>): PublicJwk[] {
  const named = jwt.map((text) => {
    const { jwk, kid } = decodeHeader(text) as { jwk?: PublicJwk; kid?: string }
    return jwk ?? (resolveJwkDid(didOf(kid!)).verificationMethod![0]!.publicKeyJwk as PublicJwk)
  })
  const attested = attestation.flatMap((text) => decodeJws(text).payload['attested_keys'] as PublicJwk[])
  return [...named, ...attested]
}

/** The claims of the key proof in a credential request. */
export function proofIn({ body }: Seen) {
  const { proofs } = JSON.parse(body) as { proofs: { jwt: string[] } }
  const jws = decodeJws(proofs.jwt[0]!)
  return { header: decodeHeader(proofs.jwt[0]!), payload: jws.payload, count: proofs.jwt.length }
}
