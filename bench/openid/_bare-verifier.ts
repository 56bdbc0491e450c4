/**
 * The bare verifier: the three requests of a presentation of an SD-JWT VC. It signs the request, and checks
 * state, nonce, audience, the digests of the disclosures, and the signatures of holder and issuer, whose key
 * it knows; nothing else.
 */
import { createHash, createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { change, database, found, secret, serve } from './_bare.ts'
import { decode, signJwt } from './_http.ts'
import { issuerJwk } from './_presenter.ts'

const ownKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const issuerKey = createPublicKey({ key: issuerJwk, format: 'jwk' })
const clientId = 'decentralized_identifier:did:bare'

database.exec(`
  create table presentation (id text primary key, state text not null, nonce text not null, query text not null, data text, updated_at text not null);
`)
const insert = database.prepare("insert into presentation values (?, 'RequestCreated', ?, ?, null, ?)")
const byId = database.prepare('select id, nonce, query from presentation where id = ?')
const answer = database.prepare(
  "update presentation set state = 'PresentationVerified', data = ?, updated_at = ? where id = ?",
)

type Row = { id: string; nonce: string; query: string }

/** The payload of a JWT. @throws if its signature is wrong */
function verifyJwt(jwt: string, keyOf: (payload: Record<string, any>) => ReturnType<typeof createPublicKey>) {
  const [header, payload, signature] = jwt.split('.') as [string, string, string]
  const claims = decode(payload)
  const key = { key: keyOf(claims), dsaEncoding: 'ieee-p1363' as const }
  const input = Buffer.from(`${header}.${payload}`)
  if (!verify('sha256', input, key, Buffer.from(signature, 'base64url')))
    throw new Error('the signature is wrong')
  return claims
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64url')

/** The disclosed claims. @throws */
function verifyPresentation(presentation: string, nonce: string): Record<string, unknown> {
  const end = presentation.lastIndexOf('~') + 1
  const [credential, ...disclosures] = presentation.slice(0, end - 1).split('~') as [string, ...string[]]
  const claims = verifyJwt(credential, () => issuerKey)
  const holderKey = createPublicKey({ key: claims['cnf'].jwk, format: 'jwk' })
  const binding = verifyJwt(presentation.slice(end), () => holderKey)
  const isBound = binding['sd_hash'] === hash(presentation.slice(0, end))
  if (!isBound || binding['nonce'] !== nonce || binding['aud'] !== clientId)
    throw new Error('the key binding is of another request')
  if (!disclosures.every((each) => claims['_sd'].includes(hash(each))))
    throw new Error('a disclosure is not in the credential')
  return Object.fromEntries(disclosures.map((each) => (decode(each) as never as string[]).slice(1)))
}

let url = ''

await serve({
  '/requests'(body, { headers }) {
    url = `http://${headers.host}`
    const [id, nonce] = [randomUUID(), secret()]
    const query = JSON.stringify(JSON.parse(body).dcqlQuery)
    change(id, 'RequestCreated', {}, (now) => insert.run(id, nonce, query, now))
    const parameters = new URLSearchParams({ client_id: clientId, request_uri: `${url}/objects/${id}` })
    return { openid4vp: { authorizationRequest: `openid4vp://?${parameters.toString()}` } }
  },
  '/objects/'(_body, request) {
    const { id, nonce, query } = found(byId.get(request.url!.split('/').pop())) as Row
    const about = { client_id: clientId, response_type: 'vp_token', response_mode: 'direct_post', state: id }
    const payload = { ...about, nonce, dcql_query: JSON.parse(query), response_uri: `${url}/responses` }
    return signJwt(ownKey, { typ: 'oauth-authz-req+jwt' }, payload)
  },
  '/responses'(body) {
    const form = new URLSearchParams(body)
    const { id, nonce } = found(byId.get(form.get('state'))) as Row
    const { person } = JSON.parse(form.get('vp_token')!) as { person: string[] }
    const claims = verifyPresentation(person[0]!, nonce)
    change(id, 'PresentationVerified', { claims }, (now) => answer.run(JSON.stringify({ person }), now, id))
    return {}
  },
})
