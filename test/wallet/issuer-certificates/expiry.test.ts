/** The doctor and the metrics know the end of issuer certificates. */
import { expect, test } from 'vitest'
import { checkIssuerCertificates } from '../../../src/operations/doctor/issuer-certificates.ts'
import { adminToken, sharedAgent } from '../../support/agent.ts'
import { until } from '../../support/tenants.ts'

const now = new Date('2026-11-26T00:00:00.000Z')
const certificate = { id: 'c1', subject: 'CN=Acme', isDevelopment: false, walletId: 'w1' }
const ending = (days: number) => ({
  ...certificate,
  notAfter: new Date(now.getTime() + days * 86_400_000).toISOString(),
})

test.each([
  [[], 'ok', 'No wallet has'],
  [[ending(31)], 'ok', 'valid for 30 days'],
  [[ending(90), ending(29)], 'warning', 'CN=Acme) of the wallet w1 ends in 29 d'],
  [[ending(29), ending(-1)], 'failed', 'has ended, on 2026-11-25'],
] as const)('the doctor, case %#', (ends, status, detail) => {
  const finding = checkIssuerCertificates(ends, now)
  expect(finding).toMatchObject({ status, detail: expect.stringContaining(detail) })
  expect(finding.hint === undefined).toBe(status === 'ok')
})

test('the wallet renews a certificate for development, an authority others', () => {
  const hintOf = (isDevelopment: boolean) =>
    checkIssuerCertificates([{ ...ending(1), isDevelopment }], now).hint
  expect(hintOf(true)).toContain('agent issuer-cert renew c1')
  expect(hintOf(false)).toContain('agent issuer-cert import c1')
})

const metric = 'agent_issuer_certificate_earliest_end_timestamp_seconds'

test('a scrape has the earliest end, and the doctor reads the wallets', async () => {
  const agent = await sharedAgent()
  const tenant = await agent.newTenant()
  const body = { commonName: 'Acme', names: [{ type: 'dns' as const, value: 'issuer.example' }] }
  const { notAfter } = await tenant.call('POST /issuer-certificates/development', { body })
  const scrape = async () => {
    const headers = { 'x-admin-api-key': adminToken }
    const text = await (await agent.send('GET', '/_system/metrics', { headers })).text()
    return new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1]
  }
  const value = await until('the metric', scrape, (found) => found !== undefined)
  expect(Number(value)).toBe(Date.parse(notAfter!) / 1_000)
  const { checks } = await agent.admin('GET /_system/doctor')
  expect(checks.find(({ name }) => name === 'issuer-certificates')).toMatchObject({ status: 'ok' })
})
