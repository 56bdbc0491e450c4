/** Issuer certificates of a tenant: requests, chains, the development authority, signatures. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDevelopmentCertificate } from '../../../src/wallet/issuer-certificates/development.ts'
import { decodeJws } from '../../../src/credentials/codecs/jws.ts'
import {
  signWithCertificate,
  verifyWithCertificate,
} from '../../../src/wallet/issuer-certificates/signatures.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { newFolder } from '../../support/folder.ts'
import { testOnSqlite } from '../../support/on-sqlite.ts'
import { refusal } from '../../support/tenants.ts'
import { exportFrom, importInto as importWallet } from '../../operations/wallet-export/_transfer.ts'
import { authority, make, pemOf, signRequest as sign } from '../../foundation/x509/_chains.ts'
import { untilEnd } from '../../support/shared.ts'

const names = [
  { type: 'dns' as const, value: 'issuer.example' },
  { type: 'uri' as const, value: 'https://issuer.example/acme' },
]
const input = { commonName: 'Acme, "Ltd"', organization: 'Acme', country: 'DE', names }
const hasOpenssl = spawnSync('openssl', ['version']).status === 0

const agent = await untilEnd(startAgent())
const tenant = await agent.newTenant()
const root = await authority('CN=Root')
const middle = await authority('CN=Middle', root)

const importInto = (id: string, chain: string, as = tenant) =>
  as.call('PUT /issuer-certificates/{id}/chain', { path: { id }, body: { chain } })

describe('a request', () => {
  test('has the subject and the names, and is signed by its key', async () => {
    const made = await tenant.call('POST /issuer-certificates', { body: input })
    expect(made).toMatchObject({ state: 'requested', isDevelopment: false, names })
    expect(made.x5c).toBeUndefined()
    const request = new x509.Pkcs10CertificateRequest(made.request!)
    expect(await request.verify()).toBe(true)
    expect(request.subjectName.getField('CN')).toEqual(['Acme, "Ltd"'])
    expect(request.subjectName.getField('C')).toEqual(['DE'])
  })

  test.skipIf(!hasOpenssl)('OpenSSL reads it (needs the program openssl)', async () => {
    const { request } = await tenant.call('POST /issuer-certificates', { body: input })
    const args = ['req', '-verify', '-noout', '-text']
    const { status, stdout } = spawnSync('openssl', args, { input: request, encoding: 'utf8' })
    expect(status).toBe(0)
    expect(stdout).toContain('DNS:issuer.example, URI:https://issuer.example/acme')
  })

  testOnSqlite.each([
    ['a wildcard', { ...input, names: [{ type: 'dns', value: '*.example' }] }],
    ['an address as host name', { ...input, names: [{ type: 'dns', value: '192.0.2.1' }] }],
    ['a host name with a path', { ...input, names: [{ type: 'dns', value: 'a.example/b' }] }],
    ['a relative URI', { ...input, names: [{ type: 'uri', value: '/acme' }] }],
    ['no names', { ...input, names: [] }],
    ['a control character', { ...input, commonName: 'a\u0000b' }],
    ['a country of three letters', { ...input, country: 'DEU' }],
  ])('refuses %s', async (_, body) => {
    const { status } = await refusal(tenant.call('POST /issuer-certificates', { body: body as typeof input }))
    expect(status).toBe(400)
  })

  testOnSqlite.each(['a, O=Other+OU=x\\', '#0403', 'a"b', ' a '])(
    'the subject %j adds no parts',
    async (commonName) => {
      const body = { ...input, commonName, organization: undefined }
      const { request } = await tenant.call('POST /issuer-certificates', { body })
      const { subjectName } = new x509.Pkcs10CertificateRequest(request!)
      expect(subjectName.getField('CN')).toEqual([body.commonName])
      expect(subjectName.getField('O')).toEqual([])
    },
  )
})

describe('the import of a chain', () => {
  test('makes the certificate ready; x5c has no root', async () => {
    const { id, request } = await tenant.call('POST /issuer-certificates', { body: input })
    const leaf = await sign(request!, middle)
    const ready = await importInto(id, `${leaf}\n${pemOf(middle, root)}`)
    expect(ready).toMatchObject({ state: 'ready', isDevelopment: false, names })
    expect(ready.x5c).toHaveLength(2)
    expect(ready.root).toBe(pemOf(root))
    expect(await tenant.call('GET /issuer-certificates/{id}', { path: { id } })).toEqual(ready)
    const listed = await tenant.call('GET /issuer-certificates', { query: { order: 'desc' } })
    expect(listed.contents[0]).toEqual(ready)

    const renewed = await importInto(id, await sign(request!, root))
    expect(renewed.x5c).toHaveLength(1)
    expect(renewed.root).toBeUndefined()
  })

  testOnSqlite('names the certificate that fails, and changes nothing', async () => {
    const { id, request } = await tenant.call('POST /issuer-certificates', { body: input })
    const leaf = await sign(request!, middle)
    const ended = await authority('CN=Ended', root, { from: -9, until: -1 })
    const other = await make('CN=Other', middle)
    const impostor = await authority('CN=Middle', root)
    // prettier-ignore
    const cases: [string, string][] = [
      ['no certificate',                       'PEM'],
      ['-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----', 'certificates only'],
      [pemOf(other, middle),                   'Certificate 1 of 2 (CN=Other) is for another key'],
      [pemOf(middle, root),                    'Certificate 1 of 2 (CN=Middle) is for another key'],
      [`${pemOf(middle)}\n${leaf}`,            'Certificate 2 of 2 (C=DE, O=Acme, CN=Acme\\, \\"Ltd\\") is for this key: put it first'],
      [`${leaf}\n${pemOf(root)}`,              'was not issued by the next one (CN=Root), but by CN=Middle'],
      [`${leaf}\n${pemOf(impostor)}`,          'is not signed by the key of the next one (CN=Middle)'],
      [`${leaf}\n${pemOf(middle, other)}`,     'Certificate 2 of 3 (CN=Middle)'],
      [`${await sign(request!, ended)}\n${pemOf(ended)}`, 'Certificate 2 of 2 (CN=Ended) has ended'],
      [await sign(request!, middle, new Date(Date.now() - 1_000)), 'has ended'],
    ]
    for (const [chain, reason] of cases) {
      const { status, detail } = await refusal(importInto(id, chain))
      expect(detail).toContain(reason)
      expect(detail).toMatch(/^chain: /)
      expect(status).toBe(422)
    }
    const after = await tenant.call('GET /issuer-certificates/{id}', { path: { id } })
    expect(after.state).toBe('requested')
  })
})

describe('the development authority', () => {
  test('signs at once; the certificates of a wallet have one root', async () => {
    const make = () => tenant.call('POST /issuer-certificates/development', { body: input })
    const [first, second] = [await make(), await make()]
    expect(first).toMatchObject({ state: 'ready', isDevelopment: true, names })
    expect(first.x5c).toHaveLength(1)
    expect(second.root).toBe(first.root)
    expect(second.publicKey).not.toEqual(first.publicKey)
    const other = await agent.newTenant()
    const foreign = await other.call('POST /issuer-certificates/development', { body: input })
    expect(foreign.root).not.toBe(first.root)
  })

  test('two first requests at once get one root', async () => {
    const other = await agent.newTenant()
    const make = () => other.call('POST /issuer-certificates/development', { body: input })
    const made = await Promise.all([make(), make(), make()])
    expect(new Set(made.map((each) => each.root)).size).toBe(1)
  })

  testOnSqlite('its certificates keep their chain', async () => {
    const { id, x5c, root: own } = await tenant.call('POST /issuer-certificates/development', { body: input })
    const chain = `-----BEGIN CERTIFICATE-----\n${x5c![0]}\n-----END CERTIFICATE-----\n${own}`
    const { status, detail } = await refusal(importInto(id, chain))
    expect([status, detail]).toEqual([409, expect.stringContaining('is for development')])
  })

  test.skipIf(!hasOpenssl)('OpenSSL verifies its certificate (needs the program openssl)', async () => {
    const { x5c, root } = await tenant.call('POST /issuer-certificates/development', { body: input })
    const [leafFile, rootFile] = [join(newFolder(), 'leaf.pem'), join(newFolder(), 'root.pem')]
    writeFileSync(leafFile, `-----BEGIN CERTIFICATE-----\n${x5c![0]}\n-----END CERTIFICATE-----\n`)
    writeFileSync(rootFile, root!)
    const args = ['verify', '-x509_strict', '-CAfile', rootFile, leafFile]
    const { stderr, status } = spawnSync('openssl', args, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })
})

describe('a signature', () => {
  const withWallet = <T>(use: (wallet: Wallet) => Promise<T>) => agent.agent.wallets.use(tenant.walletId, use)

  testOnSqlite('is verified by its x5c against the root', async () => {
    const { id, root: anchor } = await tenant.call('POST /issuer-certificates/development', { body: input })
    const token = await withWallet((wallet) =>
      signWithCertificate(wallet, id, { typ: 'dc+sd-jwt' }, { iss: 'https://issuer.example/acme' }),
    )
    const name = { type: 'uri' as const, value: 'https://issuer.example/acme' }
    const jws = decodeJws(token)
    const certificate = await verifyWithCertificate(jws, { anchors: [anchor!], at: new Date() })
    expect(certificate.names).toContainEqual(name)
    expect(jws).toMatchObject({ header: { alg: 'ES256', typ: 'dc+sd-jwt' }, payload: { iss: name.value } })

    const refuse = (text: string, anchors: string[]) =>
      verifyWithCertificate(decodeJws(text), { anchors, at: new Date() })
    await expect(refuse(token, [pemOf(root)])).rejects.toMatchObject({ failure: 'untrusted' })
    const [header, , signature] = token.split('.')
    const payload = Buffer.from(JSON.stringify({ iss: 'https://evil.example' })).toString('base64url')
    const forged = `${header}.${payload}.${signature}`
    await expect(refuse(forged, [anchor!])).rejects.toMatchObject({ failure: 'signature' })
  })

  test('needs a chain', async () => {
    const { id } = await tenant.call('POST /issuer-certificates', { body: input })
    const act = withWallet((wallet) => signWithCertificate(wallet, id, {}, {}))
    await expect(act).rejects.toMatchObject({ type: 'Conflict' })
  })
})

test('keys, chains and the development authority move with the wallet', async () => {
  await using other = await startAgent()
  const moving = await agent.newTenant()
  const made = await moving.call('POST /issuer-certificates/development', { body: input })
  const bytes = await exportFrom(agent, moving.walletId, { move: true })
  const { id: walletId } = await importWallet(other, bytes)
  const { token, again } = await other.agent.wallets.use(walletId, async (wallet) => ({
    token: await signWithCertificate(wallet, made.id, {}, { iss: 'acme' }),
    again: await createDevelopmentCertificate(wallet, input),
  }))
  const jws = decodeJws(token)
  await verifyWithCertificate(jws, { anchors: [made.root!], at: new Date() })
  expect(jws.payload).toEqual({ iss: 'acme' })
  expect(again.root).toBe(made.root)
})

test('removal deletes the key', async () => {
  const { id } = await tenant.call('POST /issuer-certificates', { body: input })
  const path = { id }
  await tenant.call('DELETE /issuer-certificates/{id}', { path })
  expect((await refusal(tenant.call('GET /issuer-certificates/{id}', { path }))).status).toBe(404)
  expect((await refusal(tenant.call('DELETE /issuer-certificates/{id}', { path }))).status).toBe(404)
})

test('the private key is sealed in the file', async () => {
  const { id } = await tenant.call('POST /issuer-certificates', { body: input })
  const row = await agent.agent.wallets.use(tenant.walletId, ({ db }) =>
    db.selectFrom('issuer_certificate').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  )
  expect(row.sealed).not.toContain('"d"')
  expect(JSON.parse(row.public_key)).not.toHaveProperty('d')
})
