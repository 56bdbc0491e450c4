/** The texts of refusals: each names the member, what it is, and what is expected or not supported. */
import { decodeJwtVc } from './credentials/codecs/_verify.ts'
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { resolveJwkDid } from '../src/did/jwk.ts'
import { resolveKeyDid } from '../src/did/key.ts'
import { resolvePeerDid } from '../src/did/peer.ts'
import { toUrl } from '../src/did/web.ts'
import { anonCredsType } from '../src/credentials/schemas/anoncreds-schema.ts'
import { checkSchema, jsonSchemaType } from '../src/credentials/schemas/schema-types.ts'
import { checkX5c } from '../src/foundation/x509/index.ts'
import { credential, vc } from './credentials/codecs/_forge.ts'
import { disclosures, encode, issued, reissued } from './credentials/codecs/sd-jwt/_forged.ts'
import { authority, make, onCurve, spkiOf, x5cOf } from './foundation/x509/_chains.ts'

type Row = [what: string, act: () => unknown, text: string | RegExp]

async function refusalOf(act: () => unknown): Promise<string> {
  try {
    await act()
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

function table(area: string, rows: Row[]): void {
  test.each(rows)(`${area}: %s`, async (_, act, text) => {
    const refusal = await refusalOf(act)
    if (typeof text === 'string') expect(refusal).toBe(text)
    else expect(refusal).toMatch(text)
  })
}

const [header, payload, signature] = credential.split('.') as [string, string, string]
const jwt =
  (head: unknown, body = payload) =>
  () =>
    decodeJwtVc(`${encode(head)}.${body}.${signature}`)
const claims = (change: Parameters<typeof vc>[0]) => () => decodeJwtVc(vc(change))
const sdJwt =
  (change: Parameters<typeof reissued>[0], shown = disclosures) =>
  () =>
    decodeSdJwt(reissued(change, shown))

// prettier-ignore
table('a token', [
  ['no token',                 () => decodeJwtVc('hello'), 'A compact JWS has three parts, not 1'],
  ['an encrypted one',         () => decodeJwtVc('a.b.c.d.e'), 'A compact JWS has three parts, not 5: it is encrypted (JWE)'],
  ['an SD-JWT as JWT',         () => decodeJwtVc(issued), 'The signature is not canonical base64url: it has a ~, as SD-JWTs have, and those are not of this format'],
  ['a JWT as SD-JWT',          () => decodeSdJwt(credential), 'An SD-JWT needs a ~ after its JWT and after each disclosure'],
  ['padding',                  () => decodeJwtVc(`${credential}=`), 'The signature is not canonical base64url: it has padding (=), which JOSE leaves out'],
  ['base64',                   () => decodeJwtVc(`${credential}+/`), 'The signature is not canonical base64url: it is base64 (+), which is another alphabet'],
  ['a line break',             () => decodeJwtVc(`${header}.${payload}\n.${signature}`), 'The payload is not canonical base64url: it has a space or a line break'],
  ['an unused bit',            () => decodeJwtVc(`${header}.${payload}.YR`), 'The signature is not canonical base64url: its last character is wrong'],
  ['a list as header',         jwt([]), 'The header is not a JSON object'],
  ['RS256',                    jwt({ alg: 'RS256' }), `The header member 'alg' is invalid: must be EdDSA, ES256K or ES256, and is "RS256"`],
  ['no alg',                   jwt({}), `The header member 'alg' is invalid: is missing: it must be "EdDSA", "ES256K" or "ES256"`],
  ['a number as alg',          jwt({ alg: -7 }), `The header member 'alg' is invalid: must be "EdDSA", "ES256K" or "ES256", and is a number`],
  ['crit',                     jwt({ alg: 'EdDSA', crit: ['b64'] }), `The header member 'crit' is invalid: is not understood`],
  ['no JSON',                  jwt({ alg: 'EdDSA' }, 'AAAA'), /^The payload is not acceptable JSON: is not JSON/],
  ['no vc',                    claims((p) => delete p.vc), `The claim 'vc' is invalid: is missing: it must be an object`],
  ['iss is not a DID',         claims((p) => (p.iss = 'https://a.example')), `The claim 'iss' is invalid: is not a DID`],
  ['exp as text',              claims((p) => (p.exp = '2030')), `The claim 'exp' is invalid: must be a number, and is a text`],
  ['a date without time zone', claims((p) => (p.vc.issuanceDate = '2030-01-01')), `The claim 'vc.issuanceDate' is invalid: must be a date and time such as 2026-11-23T12:00:00Z`],
  ['a schema without id',      claims((p) => (p.vc.credentialSchema = { type: 'JsonSchema' })), `The claim 'vc.credentialSchema.id' is invalid: is missing: it must be a text`],
  ['another type',             claims((p) => (p.vc.type = ['Person'])), `The claim 'vc.type' is invalid: does not include VerifiableCredential`],
  ['two subjects',             claims((p) => (p.vc.credentialSubject = [{}, {}])), `The claim 'vc.credentialSubject' is invalid: has 2 subjects: only credentials about one are supported here`],
  ['iss of an SD-JWT',         sdJwt((p) => (p.iss = 'Acme')), `The claim 'iss' is invalid: must be a DID or another URI`],
  ['a number as vct',          sdJwt((p) => (p.vct = 7)), `The claim 'vct' is invalid: must be a text, and is a number`],
  ['an unknown digest',        sdJwt((p) => (p['_sd_alg'] = 'md5')), 'The _sd_alg is "md5", none of sha-256, sha-384 and sha-512'],
  ['an _sd of numbers',        sdJwt((p) => (p['_sd'] = [1])), 'An _sd is not a list of digests, which are texts'],
  ['an odd element',           sdJwt((p) => (p.list = [{ '...': 1 }])), 'The element list.0 has more than a digest, or one that is not a text'],
  ['a disclosure in base64',   sdJwt(() => undefined, ['a+/a']), 'A disclosure is not canonical base64url: it is base64 (+), which is another alphabet'],
  ['a disclosure of one part', sdJwt(() => undefined, [encode(['salt'])]), 'A disclosure is not an array of two or three: salt, name and value'],
  ['a reserved name',          sdJwt(() => undefined, [encode(['salt', '_sd', 1])]), 'A disclosure has the reserved name _sd'],
])

// prettier-ignore
table('a DID', [
  ['did:key of P-384',       () => resolveKeyDid('did:key:z82LkvCwHNreneWpsgPEbV3gu1C6NFJEBg4srfJ5gdxEsMGRJUz2sG9FE42shbn2xkZJh54'), /is not a valid did:key: it has \d+ characters, more than any key/],
  ['did:key of RSA',         () => resolveKeyDid('did:key:z29JQhvxq1'), /is not a valid did:key: its prefix 0x8524 is none of X25519, Ed25519, secp256k1, P-256/],
  ['did:key in hexadecimal', () => resolveKeyDid('did:key:f00'), /is not a valid did:key: its id is not base58btc multibase/],
  ['did:jwk of RSA',         () => resolveJwkDid(`did:jwk:${encode({ kty: 'RSA', n: 'x', e: 'AQAB' })}`), /is not a valid did:jwk: kty: must be "OKP" or "EC"/],
  ['did:jwk with a secret',  () => resolveJwkDid(`did:jwk:${encode({ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'x' })}`), /d: is private and must not be there/],
  ['did:peer 1',             () => resolvePeerDid('did:peer:1zQmZMygzYqNwU6Uhmewx5Xepf2VLp5S4HLSwwgf2aiKZuwa'), 'did:peer numalgo 1 is not supported; use numalgo 2'],
  ['did:peer 9',             () => resolvePeerDid('did:peer:9'), /its numalgo 9 is none of 0 to 4/],
  ['did:web of an address',  () => toUrl('did:web:10.0.0.1'), /its host is an IP address; a did:web names a domain/],
  ['did:web with a port',    () => toUrl('did:web:a.example:8443:x y'), /it is not did:web:, a host and a path of letters, digits and \.-_:%/],
])

const dialect = 'https://json-schema.org/draft/2020-12/schema'

// prettier-ignore
table('a schema', [
  ['an unknown type',    () => checkSchema('XML', {}), /^type: must be .*, and is "XML"\.$/],
  ['an old dialect',     () => checkSchema(jsonSchemaType, { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }), /\$schema: must be .*2020-12/],
  ['a type as number',   () => checkSchema(jsonSchemaType, { $schema: dialect, type: 'object', properties: { a: { type: 7 } } }), /schema\.properties\.a\.type: must be/],
  ['no attributes',      () => checkSchema(anonCredsType, { name: 'a', version: '1.0', issuerId: 'did:web:a.example', attrNames: [] }), /schema\.attrNames: must not be empty/],
])

const root = await authority('CN=Root')
const signed = await make('CN=Leaf', root)
const elsewhere = await make('CN=Leaf', root, { publicKey: onCurve('secp384r1') })
const rsa = await make('CN=Leaf', root, {
  publicKey: spkiOf(generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey),
})
const check = (x5c: unknown) => () => checkX5c(x5c, new Date(), 'issuer')

// prettier-ignore
table('certificates', [
  ['none',             check(undefined), 'x5c: is missing: it must be an array. It has 1 to 10 certificates in base64.'],
  ['a text',           check('x'), 'x5c: must be an array, and is a text. It has 1 to 10 certificates in base64.'],
  ['PEM',              check(['-----BEGIN CERTIFICATE-----']), 'x5c.0: is not base64 (of DER, without -----BEGIN and line breaks). It has 1 to 10 certificates in base64.'],
  ['no certificate',   check(['AAAA']), /^Certificate 1 of 1 cannot be read: it is not an X\.509 certificate in DER/],
  ['self-signed',      check(x5cOf(root)), 'Certificate 1 of 1 (CN=Root) is self-signed: an authority must sign it.'],
  ['P-384',            check(x5cOf(elsewhere)), 'Certificate 1 of 1 (CN=Leaf) is for a key on secp384r1; only keys on P-256 are supported.'],
  ['RSA',              check(x5cOf(rsa)), 'Certificate 1 of 1 (CN=Leaf) is for a key of the type rsa; only keys on P-256 are supported.'],
  ['P-256',            check(x5cOf(signed)), 'accepted'],
])
