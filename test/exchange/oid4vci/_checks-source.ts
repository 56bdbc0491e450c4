/** Checks of claims sources, and the attack that each one stops: of a source that lies, or of a wallet. */
import { randomUUID } from 'node:crypto'
import { ask } from '../../support/ask.ts'
import { addSource, filled, openSource, type Scripted, type SourceSettings } from './_claims-source.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { take, tokenOf, type Scene } from './_scene.ts'
import { prove, type OfferOptions, type Setup } from './_wallet.ts'

type Flow = {
  /** Requests the credential. */
  take: (body?: object) => ReturnType<typeof take>
  configurationId: string
  source: Awaited<ReturnType<typeof openSource>>
}

/** A redeemed offer of an employee whose source has the answers. */
async function withSource<T>(
  { setup }: Scene,
  { scripted, settings, ...options }: { scripted: Scripted[]; settings?: SourceSettings } & OfferOptions,
  work: (flow: Flow) => Promise<T>,
): Promise<T> {
  await using source = await openSource(...scripted)
  const { configurationId } = await addSource(setup, source.url, settings)
  const offered = { credentialConfigurationId: configurationId, claims: { employeeId: '7' }, ...options }
  const { token } = await tokenOf(setup, offered)
  const asked = { credential_configuration_id: configurationId }
  return await work({ source, configurationId, take: (body) => take(setup, token, { ...asked, ...body }) })
}

/** Whether the claims of a source are issued. The request of a wallet is deferred otherwise, with 202. */
const isIssued = (claims: object) => (scene: Scene) =>
  withSource(scene, { scripted: [filled(claims)] }, async (flow) =>
    replyIf((await flow.take()).status === 200),
  )

/** Adds a configuration with a source, and removes it. */
async function configure({ tenant, issuerId, issuingDID }: Setup, url: string) {
  const path = `/oid4vci/issuers/${issuerId}/credential-configurations`
  const [known] = (
    await tenant.call('GET /oid4vci/issuers/{issuerId}/credential-configurations', { path: { issuerId } })
  ).contents
  const configurationId = randomUUID()
  const body = {
    configurationId,
    format: 'jwt_vc_json',
    schemaId: known!.schemaId,
    issuingDID,
    claimsSource: { url },
  }
  const { apiKey } = tenant
  const reply = await ask(tenant, `POST ${path}`, { body, apiKey })
  if (reply.status === 201) await ask(tenant, `DELETE ${path}/${configurationId}`, { apiKey })
  return reply
}

export const sourceChecks: Check[] = [
  check('claims-source.ts', ["protocol === 'https:' || isLocalHost(hostname)", 'true'], async ({ setup }) => {
    await addSource(setup, 'https://hr.example/claims')
    return configure(setup, 'http://hr.example/claims')
  }),
  check('claims-source.ts', "username !== '' || password !== ''", async ({ setup }) => {
    await addSource(setup, 'https://hr.example/claims')
    return configure(setup, 'https://user:password@hr.example/claims')
  }),
  check('configuration-changes.ts', 'given.claimsSource && issuer.claims_secrets === null', ({ other }) =>
    configure(other, 'https://hr.example/claims'),
  ),
  // A source that changes what the offer says.
  check(
    'claims-source.ts',
    ['findUnwanted(data.claims, wanted)', 'undefined'],
    isIssued({ department: 'Sales', employeeId: '8' }),
  ),
  check('claims-source.ts', ['maxBytes: answerBytes', ''], isIssued({ department: 'a'.repeat(300_000) })),
  check(
    'sourced-claims.ts',
    ['await findFault(wallet, record, sourced)', 'undefined'],
    isIssued({ department: 7 }),
  ),
  // A credential without the claims that its schema requires.
  check('sourced-claims.ts', ['record.openid4vci?.isPartial !== true', 'true'], (scene) =>
    withSource(scene, { scripted: [filled({})] }, async ({ take: takeIt, configurationId }) => {
      const { tenant, issuerId } = scene.setup
      await tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
        path: { issuerId, credentialConfigId: configurationId },
        body: { claimsSource: null },
      })
      return replyIf((await takeIt()).status === 200)
    }),
  ),
  // A wallet that makes the agent call the source again and again.
  check('signing.ts', ['await wallet.env.limitOffers(record.id)', 'undefined'], (scene) =>
    withSource(
      scene,
      { scripted: [{ status: 503 }], settings: { onFailure: 'fail' } },
      async ({ take: takeIt, source }) => {
        await Promise.all(Array.from({ length: 40 }, () => takeIt()))
        return replyIf(source.requests.length > 62)
      },
    ),
  ),
  // A captured proof, of another offer.
  check('signing.ts', ['!(await isUsed(wallet.db, nonce))', 'true'], async (scene) => {
    const proofs = { jwt: [await prove(scene.setup)] }
    await take(scene.setup, (await tokenOf(scene.setup)).token, { proofs })
    return withSource(scene, { scripted: [filled({ department: 'Sales' })] }, async (flow) => {
      await flow.take({ proofs })
      return replyIf(flow.source.requests.length > 0)
    })
  }),
]
