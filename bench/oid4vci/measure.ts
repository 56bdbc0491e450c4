/**
 * Issuance over OpenID4VCI with the pre-authorized code grant, next to the bare issuer: one daemon, every commit on disk, a webhook for
 * each state change. The wallets, the tenant and the webhook receiver are in this process.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { assemble } from '../../test/_assemble.ts'
import { Daemon } from '../../test/_daemon.ts'
import { percentile } from '../../test/faults/_samples.ts'
import { temporaryFolder } from '../../test/_temporary-folder.ts'
import { newDid, publishSchema } from '../../test/_tenants.ts'
import { openChild } from '../flows/_bare.ts'
import { openReceiver } from '../flows/_receiver.ts'
import { meter, Used } from '../flows/_setup.ts'
import { load } from '../_load.ts'
import type { Row } from '../_results.ts'
import type { Outcome, Scale } from '../_scenarios.ts'
import { codeOf, issue, jsonOf, openPool, post, type Issuer } from './_wallet.ts'

/** The share of a run for which the bare issuer is measured, and the intended maximum of the CPU ratio. */
const [bareShare, goal] = [0.5, 2]

const formats = ['jwt_vc_json', 'dc+sd-jwt'] as const

export async function measureOpenId4Vci({ concurrency, seconds, warmUp }: Scale): Promise<Outcome> {
  const rows: Row[] = []
  const failures: string[] = []
  await using bare = await openBare()
  await using agent = await openAgent()
  const warmly = { concurrency: 16, seconds: warmUp.seconds, most: warmUp.flows }
  await load(() => issue(bare.issuer), warmly)
  for (const issuer of agent.issuers) {
    await load(() => issue(issuer), warmly)
    for (const atOnce of concurrency) {
      const bareRun = await measure(bare, bare.issuer, { concurrency: atOnce, seconds: seconds * bareShare })
      const { figures, reasons } = await measure(agent, issuer, { concurrency: atOnce, seconds })
      const [bareCpuMs, cpuRatio] = [bareRun.figures.cpuMs, figures.cpuMs / bareRun.figures.cpuMs]
      rows.push({
        name: issuer.configurationId,
        figures: { concurrency: atOnce, ...figures, bareCpuMs, cpuRatio, goal },
      })
      rows.push({ name: 'bare issuer', figures: { concurrency: atOnce, ...bareRun.figures } })
      failures.push(...bareRun.reasons, ...reasons)
    }
  }
  return { tables: [{ title: 'OpenID4VCI: offer, token, nonce, credential', rows }], failures }
}

type Measured = { used: () => Promise<{ cpuMs: number; residentMb?: number }>; received: () => number }

async function measure(side: Measured, issuer: Issuer, limits: { concurrency: number; seconds: number }) {
  await side.used()
  side.received()
  const start = performance.now()
  const { times, failed, reasons } = await load(() => issue(issuer), limits)
  const elapsed = performance.now() - start
  const { cpuMs, residentMb } = await side.used()
  const figures = {
    perSecond: (times.length * 1_000) / elapsed,
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
    p99: percentile(times, 0.99),
    cpuMs: cpuMs / times.length,
    webhooks: side.received() / times.length,
    ...(residentMb !== undefined && { megabytes: residentMb }),
    failed,
  }
  return { figures, reasons }
}

const program = fileURLToPath(new URL('_bare-process.ts', import.meta.url))
const execArgv = ['--import', new URL('../_typescript.js', import.meta.url).href]

/** The bare issuer. */
function openBare() {
  return assemble(async (use) => {
    const folder = use(await temporaryFolder())
    const receiver = use(await openReceiver())
    const child = use(
      await openChild(
        fork(program, [folder.path, receiver.url], {
          execArgv,
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        }),
      ),
    )
    const { url: identifier } = z.object({ url: z.url() }).parse(child.ready)
    const pool = openPool(identifier)
    use({ [Symbol.asyncDispose]: () => pool.destroy() })
    const offer = async () => (await post(pool, '/issuer/offers', jsonOf({}))).code as string
    const used = async () => z.object({ cpuMs: z.number() }).parse(await child.exchange({}))
    const received = () => {
      receiver.forget()
      return receiver.received()
    }
    return { issuer: { identifier, configurationId: 'bare', pool, offer }, used, received }
  })
}

/** A daemon with an issuer of each format. */
function openAgent() {
  return assemble(async (use) => {
    const receiver = use(await openReceiver())
    const unlimited = '1000000000'
    const daemon = use(
      await Daemon.start({
        NODE_OPTIONS: `--import=${meter}`,
        ENTERPRISE_EVENTS: 'false',
        DEFAULT_WALLET_ENABLED: 'false',
        OID4VCI_REQUESTS_PER_MINUTE: unlimited,
      }),
    )
    const pool = openPool(daemon.url)
    use({ [Symbol.asyncDispose]: () => pool.destroy() })
    const tenant = await daemon.newTenant('issuer')
    await tenant.call('POST /events/webhooks', { body: { url: receiver.url } })
    const { did: issuingDID } = await newDid(tenant, 'assertionMethod', 'Ed25519')
    const schemaId = await publishSchema(tenant, issuingDID, {
      properties: { familyName: { type: 'string' }, age: { type: 'integer' } },
      required: ['familyName', 'age'],
    })
    const { id: issuerId } = await tenant.call('POST /oid4vci/issuers', { body: {} })
    const path = `/oid4vci/issuers/${issuerId}`
    const newIssuer = async (format: (typeof formats)[number]): Promise<Issuer> => {
      await tenant.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
        path: { issuerId },
        body: { configurationId: format, format, schemaId },
      })
      const claims = { familyName: 'Rossi', age: 42 }
      const request = jsonOf(
        { credentialConfigurationId: format, issuingDID, claims },
        { apikey: tenant.apiKey },
      )
      const offer = async () =>
        codeOf((await post(pool, `${path}/credential-offers`, request)).credentialOffer as string)
      return { identifier: `${daemon.url}${path}`, configurationId: format, pool, offer }
    }
    const issuers = [await newIssuer(formats[0]), await newIssuer(formats[1])]
    const used = async () => Used.parse(await daemon.exchange({ type: 'meter' }))
    const received = () => {
      receiver.forget()
      return receiver.received()
    }
    return { issuers, used, received }
  })
}
