/** Certificates of ISO mdoc of a tenant: authorities, signers, readers, requests, renewal, revocation. */
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { checkMdocChain, type MdocPolicy } from '../../../src/foundation/x509/mdoc-chain.ts'
import type { CertificateInput, IssuerCertificate } from '../../../src/wallet/issuer-certificates/model.ts'
import {
  getCertificateSigner,
  signWithCertificate,
} from '../../../src/wallet/issuer-certificates/signatures.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import {
  type Change,
  drivingLicence,
  iaca,
  issuerAltName,
  reading,
  signer,
  usage,
} from '../../foundation/x509/_mdoc.ts'
import { authority, pemOf } from '../../foundation/x509/_chains.ts'
import { exportFrom, importInto } from '../../operations/wallet-export/_transfer.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { newFolder } from '../../support/folder.ts'
import { testOnSqlite } from '../../support/on-sqlite.ts'
import { untilEnd } from '../../support/shared.ts'
import { refusal } from '../../support/tenants.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

const agent = await untilEnd(startAgent())
const tenant = await agent.newTenant()
const utopia = { profile: 'mdoc', country: 'UT', commonName: 'Utopia Licences' } as const

const init = (body: CertificateInput, as = tenant) =>
  as.call('POST /issuer-certificates/development', { body })
const withWallet = <T>(use: (wallet: Wallet) => Promise<T>) => agent.agent.wallets.use(tenant.walletId, use)

const check = ({ x5c, root }: Pick<IssuerCertificate, 'x5c' | 'root'>, given: Partial<MdocPolicy> = {}) =>
  checkMdocChain({
    x5c: x5c!,
    anchors: [{ pem: root! }],
    docType: drivingLicence,
    now: new Date(),
    ...given,
  })

/** The path in the URL of the list that a certificate names. */
function listOf(x5c: readonly string[]): string {
  const leaf = new x509.X509Certificate(x5c[0]!)
  const { distributionPoints } = leaf.getExtension(x509.CRLDistributionPointsExtension)!
  const url = new URL(distributionPoints[0]!.distributionPoint!.fullName![0]!.uniformResourceIdentifier!)
  expect(url.origin).toBe(new URL(agent.agent.env.urls.rest).origin)
  return url.pathname
}

async function readList(path: string, at = agent) {
  const response = await at.send('GET', path)
  expect(response.status).toBe(200)
  const list = new x509.X509Crl(Buffer.from(await response.arrayBuffer()))
  return { list, headers: response.headers }
}

describe('a development signer', () => {
  test.each<Pick<CertificateInput, 'curve' | 'province'>>([
    {},
    { curve: 'P-384', province: 'UT-1' },
    { curve: 'P-521' },
    { curve: 'Ed25519' },
  ])('fits its profile: %j', async (given) => {
    const made = await init({ ...utopia, ...given })
    const { curve = 'P-256', province } = given
    expect(made).toMatchObject({ state: 'ready', profile: 'mdoc', isDevelopment: true, names: [] })
    expect(made.x5c).toHaveLength(1)
    const { warnings, publicKey, issuerName, country, authorityKeyIds, ...chain } = check(made)
    expect({ warnings, issuerName, country, state: chain.state, curve: publicKey.crv }).toEqual({
      warnings: [],
      issuerName: agent.agent.env.urls.rest,
      country: 'UT',
      state: province,
      curve,
    })
    expect(made.authority).toEqual({ subject: chain.anchor.subject, keyId: authorityKeyIds[0] })
    const { notBefore, notAfter } = chain.leaf
    expect(notAfter.getTime() - notBefore.getTime()).toBe(397 * 86_400_000)
  })

  test('signers of one country, province and curve have one root', async () => {
    const [first, second] = await Promise.all([init(utopia), init({ ...utopia, commonName: 'Other' })])
    expect(second.root).toBe(first.root)
    expect(second.publicKey).not.toEqual(first.publicKey)
    const others = [
      await init({ ...utopia, country: 'US' }),
      await init({ ...utopia, province: 'UT-2' }),
      await init({ ...utopia, curve: 'P-384' }),
      await init({ ...utopia, profile: 'reader' }),
      await init(utopia, await agent.newTenant()),
    ]
    expect(new Set([first, ...others].map((each) => each.root)).size).toBe(6)
    expect(() => check({ x5c: others[0]!.x5c!, root: first.root! })).toThrow('is not a trust anchor')
  })

  test('its names are those of the issuer', async () => {
    const names = [{ type: 'uri' as const, value: 'https://licences.example' }]
    expect(check(await init({ ...utopia, names })).issuerName).toBe('https://licences.example')
  })

  test.skipIf(!hasOpenssl)('OpenSSL verifies it and its list (needs the program openssl)', async () => {
    const folder = newFolder()
    const file = (name: string, content: string | Buffer) => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    }
    for (const curve of ['P-256', 'P-521', 'Ed25519'] as const) {
      const { x5c, root } = await init({ ...utopia, curve })
      const leaf = file('leaf.pem', `-----BEGIN CERTIFICATE-----\n${x5c![0]}\n-----END CERTIFICATE-----\n`)
      const response = await agent.send('GET', listOf(x5c!))
      const list = spawnSync('openssl', ['crl', '-inform', 'DER'], {
        input: Buffer.from(await response.arrayBuffer()),
        encoding: 'utf8',
      }).stdout
      const files = ['-CAfile', file('root.pem', root!), '-CRLfile', file('list.pem', list)]
      const args = ['verify', '-x509_strict', '-crl_check', ...files, leaf]
      const { stderr, status } = spawnSync('openssl', args, { encoding: 'utf8' })
      expect(status, stderr).toBe(0)
    }
  })
})

test('a development reader reads, and signs no documents', async () => {
  const made = await init({ profile: 'reader', commonName: 'Pub' })
  expect(check(made, { profile: 'reader' }).warnings).toEqual([])
  expect(() => check(made)).toThrow('is restricted to other purposes')
})

testOnSqlite.each([
  ['without a country', { ...utopia, country: undefined }, 'country: is missing'],
  ['with a country in small letters', { ...utopia, country: 'ut' }, 'country: is not a country code'],
  ['of another profile', { ...utopia, profile: 'access' }, 'profile'],
  ['on another curve', { ...utopia, curve: 'brainpoolP256r1' }, 'curve'],
  [
    'on P-384 without a profile',
    { commonName: 'Acme', curve: 'P-384', names: [{ type: 'dns', value: 'a.example' }] },
    'curve: is P-384',
  ],
  ['without names and profile', { commonName: 'Acme' }, 'names: is missing'],
])('refuses a certificate %s', async (_, body, reason) => {
  for (const key of ['POST /issuer-certificates', 'POST /issuer-certificates/development'] as const) {
    const { status, detail } = await refusal(tenant.call(key, { body: body as CertificateInput }))
    expect([status, detail]).toEqual([400, expect.stringContaining(reason)])
  }
})

describe('a request', () => {
  const ask = (body: CertificateInput) => tenant.call('POST /issuer-certificates', { body })
  const importInto = (id: string, chain: string) =>
    tenant.call('PUT /issuer-certificates/{id}/chain', { path: { id }, body: { chain } })

  /** Certifies the key of a request. */
  async function certify(
    csr: string,
    by: Awaited<ReturnType<typeof iaca>>,
    change: Change = {},
    subject?: string,
  ) {
    const { publicKey } = new x509.Pkcs10CertificateRequest(csr)
    return signer(by, { publicKey: new Uint8Array(publicKey.rawData), ...change }, subject)
  }

  test.each(['P-256', 'P-384', 'Ed25519'] as const)(
    'has the wishes of the profile, with a key on %s',
    async (curve) => {
      const { id, request: csr, names } = await ask({ ...utopia, curve })
      const read = new x509.Pkcs10CertificateRequest(csr!)
      expect(await read.verify()).toBe(true)
      expect(read.subjectName.getField('C')).toEqual(['UT'])
      const { rawData } = read.extensions.find(({ type }) => type === '2.5.29.37')!
      expect(new x509.ExtendedKeyUsageExtension(rawData)).toMatchObject({
        usages: ['1.0.18013.5.1.2'],
        critical: true,
      })
      expect(names).toEqual([])
      const root = await iaca()
      const ready = await importInto(id, pemOf(await certify(csr!, root), root))
      expect(ready).toMatchObject({ state: 'ready', profile: 'mdoc' })
      expect(ready.warnings).toBeUndefined()
      expect(check(ready).publicKey).toEqual(ready.publicKey)
    },
  )

  test('the import warns of a missing list and issuerAltName', async () => {
    const { id, request: csr } = await ask(utopia)
    const root = await iaca('C=UT, CN=Authority', { without: [issuerAltName] })
    const leaf = await certify(csr!, root, { without: [issuerAltName, '2.5.29.31'] })
    const { warnings } = await importInto(id, pemOf(leaf, root))
    expect(warnings).toEqual([
      expect.stringContaining('Certificate 1 of 2 (C=UT, CN=Signer) lacks a CRL distribution point'),
      expect.stringContaining('Certificate 1 of 2 (C=UT, CN=Signer) lacks an issuerAltName'),
      expect.stringContaining('Certificate 2 of 2 (C=UT, CN=Authority) lacks an issuerAltName'),
    ])
  })

  testOnSqlite('the import names all that the certificates lack', async () => {
    const { id, request: csr } = await ask(utopia)
    const root = await iaca()
    const loose = await authority('C=UT, CN=Loose', undefined, { isIdentified: true })
    // prettier-ignore
    const cases: [string[], Awaited<ReturnType<typeof certify>>, typeof root][] = [
      [['lacks the extended key usage 1.0.18013.5.1.2'], await certify(csr!, root, { without: ['2.5.29.37'] }), root],
      [['is for other purposes: its extended key usage is 1.0.18013.5.1.6'], await certify(csr!, root, { extensions: [usage([reading], false)] }), root],
      [['lacks a country (C)'], await certify(csr!, root, {}, 'CN=Signer'), root],
      [['is of another country (C: US)'], await certify(csr!, root, {}, 'C=US, CN=Signer'), root],
      [['is valid for more than 457 days', 'lacks a subject key identifier'], await certify(csr!, root, { until: 500, isIdentified: false }), root],
      [['Certificate 2 of 2 (C=UT, CN=Loose) lacks a critical key usage of keyCertSign and cRLSign alone', 'lacks critical basic constraints of an authority with the path length 0'], await certify(csr!, loose), loose],
    ]
    for (const [reasons, leaf, by] of cases) {
      const { status, detail } = await refusal(importInto(id, pemOf(leaf, by)))
      expect(status).toBe(422)
      for (const reason of reasons) expect(detail).toContain(reason)
    }
    expect(await tenant.call('GET /issuer-certificates/{id}', { path: { id } })).toMatchObject({
      state: 'requested',
    })
  })

  test('of a reader', async () => {
    const { id, request: csr } = await ask({ profile: 'reader', commonName: 'Pub' })
    const root = await iaca()
    const ofSigner = await refusal(importInto(id, pemOf(await certify(csr!, root), root)))
    expect(ofSigner.detail).toContain('is for other purposes')
    const leaf = await certify(csr!, root, { extensions: [usage([reading])] })
    expect(await importInto(id, pemOf(leaf, root))).toMatchObject({ state: 'ready', profile: 'reader' })
  })
})

describe('a renewal', () => {
  const renew = (id: string) => tenant.call('POST /issuer-certificates/{id}/renewal', { path: { id } })

  test('has a new key below the same root; what the old key signed stays valid', async () => {
    const old = await init({ ...utopia, organization: 'Acme, "Ltd"', curve: 'P-384' })
    const renewed = await renew(old.id)
    expect(renewed).toMatchObject({ id: old.id, root: old.root, subject: old.subject, state: 'ready' })
    expect(renewed.publicKey).not.toEqual(old.publicKey)
    expect(renewed.x5c).not.toEqual(old.x5c)
    expect(await tenant.call('GET /issuer-certificates/{id}', { path: { id: old.id } })).toEqual(renewed)
    for (const each of [old, renewed]) expect(check(each).warnings).toEqual([])
    const { key, issuer } = await withWallet((wallet) => getCertificateSigner(wallet, old.id, ['mdoc']))
    expect(key).toMatchObject(renewed.publicKey)
    expect(issuer).toBe(agent.agent.env.urls.rest)
  })

  test('of a certificate without a profile keeps names and root', async () => {
    const names = [{ type: 'dns' as const, value: 'issuer.example' }]
    const old = await init({ commonName: 'Acme', names })
    const renewed = await renew(old.id)
    expect(renewed).toMatchObject({ root: old.root, names })
    expect(renewed.publicKey).not.toEqual(old.publicKey)
  })

  test('is not for certificates of other authorities', async () => {
    const { id } = await tenant.call('POST /issuer-certificates', { body: utopia })
    expect(await refusal(renew(id))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('import that'),
    })
  })
})

describe('the list of revoked certificates', () => {
  const revoke = (id: string, as = tenant) =>
    as.call('POST /issuer-certificates/{id}/revocation', { path: { id } })

  test('is empty at first, and signed by the root', async () => {
    const made = await init({ ...utopia, country: 'DE' })
    const { list, headers } = await readList(listOf(made.x5c!))
    const root = new x509.X509Certificate(made.root!)
    expect(await list.verify({ publicKey: root })).toBe(true)
    expect(list.issuer).toBe(root.subject)
    expect(list.version).toBe(x509Version2)
    expect(list.entries).toEqual([])
    expect(list.extensions.map(({ type, critical }) => [type, critical])).toEqual([
      ['2.5.29.35', false],
      ['2.5.29.20', false],
    ])
    expect(list.nextUpdate!.getTime() - list.thisUpdate.getTime()).toBe(7 * 86_400_000)
    expect(headers.get('content-type')).toBe('application/pkix-crl')
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    const known = { 'if-none-match': headers.get('etag')! }
    const again = await request(agent.url + listOf(made.x5c!), { headers: known })
    expect(again.statusCode).toBe(304)
  })

  test('names revoked certificates, whose key signs no more', async () => {
    const [first, second] = [
      await init({ ...utopia, country: 'FR' }),
      await init({ ...utopia, country: 'FR' }),
    ]
    const path = listOf(first.x5c!)
    const before = (await readList(path)).list
    const revoked = await revoke(first.id)
    expect(revoked).toMatchObject({ state: 'revoked', revokedAt: expect.any(String) })
    expect(await revoke(first.id)).toEqual(revoked)
    const { list, headers } = await readList(path)
    const { serialNumber } = new X509Certificate(Buffer.from(first.x5c![0]!, 'base64'))
    const entries = list.entries.map((entry) => [entry.serialNumber.toUpperCase(), entry.extensions.length])
    expect(entries).toEqual([[serialNumber, 0]])
    expect(list.entries[0]!.revocationDate.toISOString()).toBe(revoked.revokedAt)
    expect(numberOf(list)).toBeGreaterThan(numberOf(before))
    const signing = (id: string) => withWallet((wallet) => getCertificateSigner(wallet, id, ['mdoc']))
    await expect(signing(first.id)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('is revoked'),
    })
    expect((await signing(second.id)).x5c).toEqual(second.x5c)

    // The entry stays when the certificate is renewed or removed.
    const path2 = { id: first.id }
    await tenant.call('POST /issuer-certificates/{id}/renewal', { path: path2 })
    expect((await signing(first.id)).x5c).not.toEqual(first.x5c)
    await tenant.call('DELETE /issuer-certificates/{id}', { path: path2 })
    await revoke(second.id)
    const last = (await readList(path)).list
    expect(last.entries).toHaveLength(2)
    expect(numberOf(last)).toBeGreaterThan(numberOf(list))
    expect(headers.get('etag')).not.toBe(null)
  })

  test('only an authority with a list revokes', async () => {
    const names = [{ type: 'dns' as const, value: 'issuer.example' }]
    const plain = await init({ commonName: 'Acme', names })
    expect(await refusal(revoke(plain.id))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('remove it instead'),
    })
    const { id } = await tenant.call('POST /issuer-certificates', { body: utopia })
    expect(await refusal(revoke(id))).toMatchObject({
      status: 409,
      detail: expect.stringContaining('is of another authority'),
    })
    const stranger = await agent.newTenant()
    const { id: other } = await init(utopia)
    expect(await refusal(revoke(other, stranger))).toMatchObject({ status: 404 })
  })

  test.each(['x', '../status', `${'A'.repeat(55)}.crl`, 'a.pem'])('there is none at %s', async (name) => {
    const response = await agent.send('GET', `/issuer-certificates/crl/${encodeURIComponent(name)}`)
    expect(response.status).toBe(404)
  })

  test('moves with the wallet', async () => {
    await using other = await startAgent()
    const moving = await agent.newTenant()
    const made = await init(utopia, moving)
    await revoke(made.id, moving)
    const path = listOf(made.x5c!)
    const { id } = await importInto(other, await exportFrom(agent, moving.walletId, { move: true }))
    expect((await readList(path, other)).list.entries).toHaveLength(1)
    const again = await other.agent.wallets.use(id, async (wallet) => {
      const { createDevelopmentCertificate } =
        await import('../../../src/wallet/issuer-certificates/development.ts')
      return createDevelopmentCertificate(wallet, utopia)
    })
    expect(again.root).toBe(made.root)
  })
})

test('certificates of a profile sign nothing else', async () => {
  const names = [{ type: 'uri' as const, value: 'https://issuer.example' }]
  const [mdoc, reader, plain] = [
    await init({ ...utopia, names }),
    await init({ profile: 'reader', commonName: 'Pub', names }),
    await init({ commonName: 'Acme', names }),
  ]
  const sign = (id: string) => withWallet((wallet) => signWithCertificate(wallet, id, {}, {}))
  await expect(sign(mdoc.id)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('has the profile mdoc'),
  })
  const token = withWallet((wallet) => getCertificateSigner(wallet, reader.id))
  await expect(token).rejects.toMatchObject({ status: 409 })
  const document = withWallet((wallet) => getCertificateSigner(wallet, plain.id, ['mdoc']))
  await expect(document).rejects.toMatchObject({ message: expect.stringContaining('has no profile') })
  // A verifier signs its requests with the certificate of a reader.
  expect(await sign(reader.id)).toMatch(/^ey/)
})

test('the key of an authority is sealed', async () => {
  await init(utopia)
  const rows = await withWallet(({ db }) => db.selectFrom('issuer_authority').selectAll().execute())
  expect(rows.length).toBeGreaterThan(0)
  for (const { sealed } of rows) expect(sealed).not.toContain('PRIVATE KEY')
})

/** The number of version 2. */
const x509Version2 = 1

/** The CRL number. */
function numberOf(list: x509.X509Crl): number {
  const { value } = list.getExtension('2.5.29.20')!
  return Number(`0x${Buffer.from(value).subarray(2).toString('hex')}`)
}
