/**
 * SD-JWT VCs that an issuer certificate signs: their header and status list, verified by others' software and
 * by this agent.
 */
import { spawnSync } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SDJwtVcInstance } from '@sd-jwt/sd-jwt-vc'
import { expect, test } from 'vitest'
import { decodeHeader } from '../../../src/credentials/codecs/jws.ts'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { verify, type PublicJwk } from '../../../src/foundation/crypto/keys.ts'
import { sharedAgent } from '../../support/agent.ts'
import { ask } from '../../support/ask.ts'
import { newFolder } from '../../support/folder.ts'
import { publishSchema, refusal, type Tenant } from '../../support/tenants.ts'
import { exportFrom, importInto } from '../../operations/wallet-export/_transfer.ts'
import { authority, make, pemOf, signRequest, x5cOf } from '../../foundation/x509/_chains.ts'
import { prove, recordOf, redeemed, request, startIssuer, type OfferOptions } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const issuer = 'https://issuer.example/acme'
const input = {
  commonName: 'Acme',
  names: [
    { type: 'dns' as const, value: 'issuer.example' },
    { type: 'uri' as const, value: issuer },
  ],
}

const setup = await untilEnd(startIssuer())
const schemaId = await publishSchema(setup.tenant, setup.issuingDID, { name: 'licence' })
const certificate = await develop()
await configure('Licence', certificate.id)

function develop(names = input.names) {
  return setup.tenant.call('POST /issuer-certificates/development', { body: { ...input, names } })
}

function configure(configurationId: string, issuerCertificateId: string, format = 'dc+sd-jwt' as const) {
  return setup.tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId: setup.issuerId },
    body: { configurationId, format, schemaId, issuerCertificateId },
  })
}

const offered = (configuration: string): OfferOptions => ({
  credentialConfigurationId: configuration,
  issuingDID: undefined,
})

async function take(configuration: string) {
  const made = await redeemed(setup, offered(configuration))
  const body = { credential_configuration_id: configuration, proofs: { jwt: [await prove(setup)] } }
  return { ...made, body, reply: await request(setup, { token: made.token, body }) }
}

async function issue(configuration = 'Licence') {
  const { reply, recordId } = await take(configuration)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return { recordId, credential: reply.body.credentials[0].credential as string }
}

const keyOf = (x5c: readonly string[]) => new X509Certificate(Buffer.from(x5c[0]!, 'base64')).publicKey
const readList = async (uri: string, accept = 'application/statuslist+jwt') =>
  (await fetch(uri, { headers: { accept } })).text()

test('a credential and its status list have the certificates in their header, and the issuer that they are for', async () => {
  const { credential, recordId } = await issue()
  const { header, payload } = decodeSdJwt(credential).jws
  expect(header).toEqual({ alg: 'ES256', typ: 'dc+sd-jwt', x5c: certificate.x5c })
  expect(payload).toMatchObject({ iss: issuer, cnf: { jwk: {} } })
  const { uri } = (payload['status'] as any).status_list
  for (const accept of ['application/statuslist+jwt', '*/*', 'application/json']) {
    const response = await fetch(uri, { headers: { accept } })
    expect(response.headers.get('content-type')).toContain('application/statuslist+jwt')
    const list = await response.text()
    expect(decodeHeader(list)).toEqual({ alg: 'ES256', typ: 'statuslist+jwt', x5c: certificate.x5c })
  }
  const record = await recordOf(setup, recordId)
  expect(record).toMatchObject({ protocolState: 'CredentialSent', issuerCertificateId: certificate.id })
  expect(record.issuingDID).toBeUndefined()
})

test('the library of others verifies a credential and its status list by the key of the first certificate', async () => {
  const { credential, recordId } = await issue()
  const check = (text: string, data: string, signature: string) => {
    const jwk = keyOf(decodeHeader(text)['x5c'] as string[]).export({ format: 'jwk' }) as unknown as PublicJwk
    return verify(jwk, Buffer.from(data), Buffer.from(signature, 'base64url'))
  }
  let list = ''
  const peer = new SDJwtVcInstance({
    hasher: (data, algorithm) =>
      createHash(algorithm.replace('-', '').toLowerCase())
        .update(typeof data === 'string' ? data : Buffer.from(data))
        .digest(),
    verifier: (data, signature) => check(credential.split('~')[0]!, data, signature),
    statusVerifier: (data, signature) => check(list, data, signature),
    statusListFetcher: async (uri) => (list = await readList(uri)),
    statusValidator: async (status) => {
      if (status !== 0) throw new Error('revoked')
    },
  })
  expect((await peer.verify(credential)).payload).toMatchObject({ name: 'Alice', iss: issuer })
  await setup.tenant.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
  await expect(peer.verify(credential)).rejects.toThrow('revoked')
})

test.skipIf(!hasOpenssl)(
  'OpenSSL accepts the certificates of a credential (needs the program openssl)',
  async () => {
    const [root, middle] = [await authority('CN=Root'), await authority('CN=Middle')]
    const signed = await authority('CN=Middle', root)
    const made = await setup.tenant.call('POST /issuer-certificates', { body: input })
    const leaf = await signRequest(made.request!, signed)
    await setup.tenant.call('PUT /issuer-certificates/{id}/chain', {
      path: { id: made.id },
      body: { chain: `${leaf}\n${pemOf(signed, root)}` },
    })
    await configure('Chained', made.id)
    const { x5c } = decodeHeader((await issue('Chained')).credential.split('~')[0]!) as { x5c: string[] }
    const [first, second, ...more] = x5c.map(
      (der) => `-----BEGIN CERTIFICATE-----\n${der}\n-----END CERTIFICATE-----\n`,
    )
    expect(more).toEqual([])
    const files = Object.entries({ leaf: first!, middle: second!, root: pemOf(root), other: pemOf(middle) })
    const folder = newFolder()
    const paths = Object.fromEntries(files.map(([name]) => [name, join(folder, `${name}.pem`)]))
    for (const [name, pem] of files) writeFileSync(paths[name]!, pem)
    const run = (anchor: string) =>
      spawnSync('openssl', [
        'verify',
        '-CAfile',
        paths[anchor]!,
        '-untrusted',
        paths['middle']!,
        paths['leaf']!,
      ])
    expect(run('root').status, String(run('root').stderr)).toBe(0)
    expect(run('other').status).not.toBe(0)
  },
)

const verifications = ['SignatureVerification', 'RevocationCheck', 'ComplianceWithStandards'] as const
async function check(tenant: Tenant, credential: string) {
  const [checked] = await tenant.call('POST /verification/credential', {
    body: [{ credential, verifications: verifications.map((verification) => ({ verification })) }],
  })
  return checked!.result.map(({ success }) => success)
}

const trust = (tenant: Tenant, value: string) =>
  tenant.call('POST /trust-anchors', { body: { type: 'x509', value } })

test('the verification API trusts the anchors of the wallet, and no others', async () => {
  const { credential, recordId } = await issue()
  const own = setup.tenant
  expect(await check(own, credential)).toEqual([false, false, true])
  await trust(own, certificate.root!)
  expect(await check(own, credential)).toEqual([true, true, true])
  const stranger = await setup.agent.newTenant('stranger')
  expect(await check(stranger, credential)).toEqual([false, false, true])
  await stranger.call('POST /issuer-certificates/development', { body: input })
  expect(await check(stranger, credential)).toEqual([false, false, true])

  const [jwt, ...rest] = credential.split('~')
  const [header, payload, signature] = jwt!.split('.')
  const changed = (claims: object, x5c = certificate.x5c) => {
    const text = { ...JSON.parse(Buffer.from(payload!, 'base64url').toString()), ...claims }
    const head = { ...JSON.parse(Buffer.from(header!, 'base64url').toString()), x5c }
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    return [`${encode(head)}.${encode(text)}.${signature}`, ...rest].join('~')
  }
  expect(await check(own, changed({}))).toEqual([true, true, true])
  expect((await check(own, changed({ name: 'Mallory' })))[0]).toBe(false)
  expect((await check(own, changed({ iss: 'https://evil.example' })))[0]).toBe(false)
  expect((await check(own, changed({}, [])))[0]).toBe(false)

  await own.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
  expect(await check(own, credential)).toEqual([true, false, true])
  const content = await own.call('GET /issue-credentials/records/{recordId}/credential', {
    path: { recordId },
  })
  expect(content).toMatchObject({ issuer, standing: { status: 'revoked' } })
})

test('a certificate of a trusted authority verifies its subject, whatever iss says', async () => {
  const root = await authority('CN=Trusted')
  const { id, request: csr } = await setup.tenant.call('POST /issuer-certificates', { body: input })
  const chain = `${await signRequest(csr!, root)}\n${pemOf(root)}`
  await setup.tenant.call('PUT /issuer-certificates/{id}/chain', { path: { id }, body: { chain } })
  await trust(setup.tenant, pemOf(root))
  const other = await make('CN=Other', root, { names: [{ type: 'dns', value: 'other.example' }] })
  const x5c = x5cOf(other)
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = async (iss: string) => {
    const text = `${encode({ alg: 'ES256', typ: 'dc+sd-jwt', x5c })}.${encode({ iss, vct: 'urn:a' })}`
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    const signature = await crypto.subtle.sign(algorithm, other.keys.privateKey, Buffer.from(text))
    return `${text}.${Buffer.from(signature).toString('base64url')}~`
  }
  const successOf = async (iss: string) => (await check(setup.tenant, await signed(iss)))[0]
  const isIssuer = async (did: string, iss: string) => {
    const parameter = { parameterType: 'DidParameter' as const, did }
    const verifications = [{ verification: 'IssuerIdentification' as const, parameter }]
    const body = [{ credential: await signed(iss), verifications }]
    return (await setup.tenant.call('POST /verification/credential', { body }))[0]!.result[0]!.success
  }
  for (const iss of [issuer, 'http://other.example', 'https://other.example.evil.example']) {
    expect(await successOf(iss), iss).toBe(true)
    expect([await isIssuer(iss, iss), await isIssuer('https://other.example', iss)]).toEqual([false, true])
  }
  const named = 'https://other.example/acme'
  expect([await successOf(named), await isIssuer(named, named)]).toEqual([true, true])
  expect(await successOf(setup.issuingDID)).toBe(false)
})

test('the issuer of a certificate without URI is the URL of its DNS name', async () => {
  await configure('Named', (await develop([{ type: 'dns', value: 'other.example' }])).id)
  const { credential } = await issue('Named')
  expect(decodeSdJwt(credential).issuerDid).toBe('https://other.example')
  expect(await check(setup.tenant, credential)).toEqual([true, true, true])
})

test('without a chain there is no offer; a chain that ends before the request refuses it, and nothing is used up', async () => {
  const { tenant, issuerId } = setup
  const { id } = await tenant.call('POST /issuer-certificates', { body: input })
  await configure('Requested', id)
  const body = { credentialConfigurationId: 'Requested', claims: { name: 'Alice' } }
  const route = 'POST /oid4vci/issuers/{issuerId}/credential-offers' as const
  expect(await refusal(tenant.call(route, { path: { issuerId }, body }))).toMatchObject({
    status: 409,
    detail: expect.stringContaining('has no chain yet'),
  })
  const ends = (at: string) =>
    setup.agent.agent.wallets.use(tenant.walletId, (wallet) =>
      wallet.transaction((tx) =>
        tx
          .updateTable('issuer_certificate')
          .set({ not_after: at })
          .where('id', '=', certificate.id)
          .execute(),
      ),
    )
  const { token, recordId } = await redeemed(setup, offered('Licence'))
  const asked = {
    token,
    body: { credential_configuration_id: 'Licence', proofs: { jwt: [await prove(setup)] } },
  }
  await ends('2020-01-01T00:00:00.000Z')
  const { status, body: problem } = await request(setup, asked)
  expect([status, problem.detail]).toEqual([409, expect.stringContaining('has ended, on 2020-01-01')])
  expect((await recordOf(setup, recordId)).protocolState).toBe('OfferRedeemed')
  await ends(certificate.notAfter!)
  expect((await request(setup, asked)).status).toBe(200)
})

test('metadata are signed for wallets that accept JWT, as long as the issuer has a valid certificate', async () => {
  const { tenant } = setup
  const { id } = await develop()
  const made = await tenant.call('POST /oid4vci/issuers', { body: { issuerCertificateId: id } })
  expect(made.issuerCertificateId).toBe(id)
  const path = { issuerId: made.id }
  const typeFor = async (accept: string) => {
    const target = `GET /oid4vci/issuers/${made.id}/.well-known/openid-credential-issuer`
    const reply = await ask(setup.agent, target, { headers: { accept } })
    expect(reply.headers.get('vary')).toContain('Accept')
    return reply.headers.get('content-type')!.replace(/;.*/, '')
  }
  expect(await typeFor('application/jwt')).toBe('application/jwt')
  expect(await typeFor('application/jwt, application/json;q=0.5')).toBe('application/jwt')
  for (const accept of ['*/*', 'application/json', 'application/json, application/jwt', 'text/html'])
    expect(await typeFor(accept), accept).toBe('application/json')
  const patch = (issuerCertificateId: string | null) =>
    tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path, body: { issuerCertificateId } })
  const unknown = '00000000-0000-4000-8000-000000000000'
  expect(await refusal(patch(unknown))).toMatchObject({
    status: 400,
    detail: `issuerCertificateId: There is no issuer certificate ${unknown}.`,
  })
  expect(await patch(null)).toEqual({ id: made.id, authorizationServerUrl: made.authorizationServerUrl })
  expect(await typeFor('application/jwt')).toBe('application/json')
  await patch(id)
  expect(await typeFor('application/jwt')).toBe('application/jwt')
  await tenant.call('DELETE /issuer-certificates/{id}', { path: { id } })
  expect(await typeFor('application/jwt')).toBe('application/json')
})

test('a configuration or an offer that contradicts the certificate is refused with the reason', async () => {
  const { tenant, issuerId, issuingDID } = setup
  const stranger = await setup.agent.newTenant('other')
  const foreign = await stranger.call('POST /issuer-certificates/development', { body: input })
  expect(await refusal(configure('Foreign', foreign.id))).toMatchObject({
    status: 400,
    detail: `issuerCertificateId: There is no issuer certificate ${foreign.id}.`,
  })
  expect(await refusal(configure('Jwt', certificate.id, 'jwt_vc_json' as never))).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/^issuerCertificateId: .* have no such member/),
  })
  const refused = (credentialConfigurationId: string, signer: object) =>
    refusal(
      tenant.call('POST /oid4vci/issuers/{issuerId}/credential-offers', {
        path: { issuerId },
        body: { credentialConfigurationId, claims: { name: 'Alice' }, ...signer },
      }),
    )
  expect(await refused('Licence', { issuingDID })).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/^issuingDID: the issuer certificate .* signs/),
  })
  expect(await refused('Person', {})).toMatchObject({
    status: 400,
    detail: expect.stringMatching(/^issuingDID: /),
  })
})

test('the certificate of a configuration moves with the wallet', async () => {
  const other = await sharedAgent()
  const source = await setup.agent.newTenant('mover')
  const made = await source.call('POST /issuer-certificates/development', { body: input })
  const { id: issuerId } = await source.call('POST /oid4vci/issuers', { body: {} })
  await source.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId },
    body: { configurationId: 'Moved', format: 'dc+sd-jwt', schemaId, issuerCertificateId: made.id },
  })
  await importInto(other, await exportFrom(setup.agent, source.walletId, { move: true }))
  const rows = other.agent.env.db.selectFrom('credential_configuration').select(['id', 'certificate_id'])
  expect(await rows.execute()).toEqual([{ id: 'Moved', certificate_id: made.id }])
})
