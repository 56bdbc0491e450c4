/** Checks of a presentation before the consent, and the attack that each one stops. */
import { randomUUID } from 'node:crypto'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { ask, type Reply } from '../../support/ask.ts'
import { issueSdJwt, issuerDid, presentSdJwt, readRequest } from '../oid4vp/_wallet.ts'
import { answer, sealedIn, type Shown } from './_authorization.ts'
import { check, replyIf, type Check } from './_mutants.ts'
import { issuerClient } from './_provider.ts'
import { expire, type Scene } from './_scene.ts'
import { offer, recordOf, type Setup } from './_wallet.ts'
import {
  addPasses,
  alice,
  answerTo,
  begin,
  configurePasses,
  enter,
  goOn,
  offeredCard,
  presentation,
  presentTo,
  press,
  requestedPass,
  trust,
  visit,
} from './presentation/_presentation.ts'

const folder = 'src/exchange/oid4vci/presentation'
const steps = 'src/exchange/oid4vci-presentation'

const known = new WeakMap<object, Promise<Setup>>()

/** An issuer of passes, which trusts the issuer of the presented credential. */
function passesOf({ agent, setup: { tenant } }: Scene): Promise<Setup> {
  const made =
    known.get(agent) ?? addPasses(agent, tenant).then((setup) => trust(tenant, issuerDid).then(() => setup))
  known.set(agent, made)
  return made
}

/** The page after a presentation for `Pass`, or for an offer of `Card`. */
const presented =
  (
    claims: object,
    { key, isOffered = false }: { key?: ReturnType<typeof generateKey>; isOffered?: boolean } = {},
  ) =>
  async (scene: Scene) => {
    const setup = await passesOf(scene)
    const { parameters } = isOffered ? await offeredCard(setup) : requestedPass()
    const begun = await begin(setup, parameters)
    await presentTo(begun, { issued: { claims: { ...alice, ...claims }, ...(key && { key }) } })
    return goOn(begun)
  }

const others = { ...presentation, issuers: 'known' as const }
const of = (more: object) => ({ ...presentation.dcqlQuery.credentials[0]!, ...more })

/** Adds a configuration whose presentation has other members, and removes it. */
async function configure(setup: Setup, members: object): Promise<Reply> {
  const { tenant, issuerId } = setup
  const { apiKey } = tenant
  const path = `/oid4vci/issuers/${issuerId}/credential-configurations`
  const body = { ...(await configurePasses(setup)), configurationId: randomUUID(), ...members }
  const reply = await ask(tenant, `POST ${path}`, { body, apiKey })
  if (reply.status === 201) await ask(tenant, `DELETE ${path}/${body.configurationId}`, { apiKey })
  return reply
}

const configured =
  (members: object, toSetup: (scene: Scene) => Promise<Setup> = passesOf) =>
  async (scene: Scene) =>
    configure(await toSetup(scene), members)

/** Changes the configuration of an issuer of its own. */
async function withOwn<T>(
  { agent, setup: { tenant } }: Scene,
  work: (setup: Setup, change: (id: string, body: object) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const setup = await addPasses(agent, tenant)
  await trust(tenant, issuerDid).catch(() => undefined)
  return work(setup, (id, body) =>
    tenant.call('PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
      path: { issuerId: setup.issuerId, credentialConfigId: id },
      body,
    }),
  )
}

const settings: Check[] = [
  check(
    `${folder}/settings.ts`,
    ["z.enum(['trusted', 'known'])", 'any'],
    configured({ presentation: { ...presentation, issuers: 'any' } }),
  ),
  // Whoever has a copy of the credential could present it.
  check(
    `${folder}/settings.ts`,
    ['findUnheld(query)', 'undefined'],
    configured({
      presentation: {
        ...presentation,
        dcqlQuery: { credentials: [of({ require_cryptographic_holder_binding: false })] },
      },
    }),
  ),
  check(
    'configuration-access.ts',
    "begin === 'presentation' && presentation?.issuers !== 'trusted'",
    configured({ presentation: others, begin: 'presentation' }),
  ),
  check(
    'configuration-access.ts',
    "begin === 'open' && presentation",
    configured({ presentation: others, begin: 'open' }),
  ),
  check('configuration-access.ts', 'needed && issuer.authorization_server !== null', async (scene) => {
    const { agent, setup } = scene
    const { url } = scene.server
    const { body } = await ask(agent, 'POST /oid4vci/issuers', {
      body: { authorizationServer: { url, ...issuerClient } },
      apiKey: setup.tenant.apiKey,
    })
    return configure({ ...(await passesOf(scene)), issuerId: body.id }, { presentation })
  }),
  // The column was written by another release, or by a mistake.
  check('configuration-access.ts', ["presentation?.issuers === 'trusted'", 'true'], (scene) =>
    withOwn(scene, async (setup) => {
      const access = JSON.stringify({ begin: 'presentation' })
      const all = scene.agent.agent.db.updateTable('credential_configuration').set({ access })
      await all.where('issuer_id', '=', setup.issuerId).where('id', '=', 'Pass').execute()
      return enter(setup, requestedPass().parameters)
    }),
  ),
]

const offers: Check[] = [
  check('offers.ts', 'isPresented && (isPreAuthorized || external !== null)', async (scene) => {
    const claims = { family_name: 'Adams' }
    const options = { grant: 'pre-authorized_code' as const, credentialConfigurationId: 'Card', claims }
    return replyIf(await succeeds(offer(await passesOf(scene), options)))
  }),
  check('offers.ts', 'valueAt(claims, offered) === undefined', async (scene) =>
    replyIf(await succeeds(offeredCard(await passesOf(scene), { claims: { level: 'gold' } }))),
  ),
]

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  )

const begins: Check[] = [
  // The page is accepted without the presentation.
  check(
    'consent.ts',
    ['isAccepted ? await presentedFor(wallet, issuer, request) : undefined', 'undefined'],
    async (scene) => {
      const setup = await passesOf(scene)
      const { page } = await begin(setup, requestedPass().parameters)
      return answer(setup, { request: sealedIn(page), decision: 'accept' })
    },
  ),
  check(`${steps}/begin.ts`, ['await requireUnanswered(wallet, request)', 'undefined'], async (scene) => {
    const setup = await passesOf(scene)
    const page = await enter(setup, requestedPass().parameters)
    await answer(setup, { request: sealedIn(page), decision: 'decline' })
    return replyIf((await press(setup, page)).status === 303)
  }),
  check(
    `${steps}/begin.ts`,
    ['await wallet.env.limitOffers(grantIdOf(request))', 'undefined'],
    async (scene) => {
      const setup = await passesOf(scene)
      const { page, cookie } = await begin(setup, requestedPass().parameters)
      for (let count = 2; count < 31; count++) await press(setup, page, { cookie })
      return replyIf((await press(setup, page, { cookie })).status !== 429)
    },
  ),
  check(`${steps}/begin.ts`, 'request.grantId !== undefined', async (scene) => {
    const setup = await passesOf(scene)
    const { parameters, recordId } = await offeredCard(setup)
    // The page whose button is not pressed yet.
    const page = await enter(setup, parameters)
    await expire({ agent: scene.agent, setup }, recordId)
    return replyIf((await press(setup, page)).status === 303)
  }),
  check(`${steps}/begin.ts`, 'openid4vp.issuance.browser !== browser', async (scene) => {
    const setup = await passesOf(scene)
    const { page } = await begin(setup, requestedPass().parameters)
    return replyIf((await press(setup, page)).status === 303)
  }),
  check(`${steps}/begin.ts`, 'needed.dcqlQuery.credentials.length > 1', (scene) =>
    withOwn(scene, async (setup, change) => {
      const credentials = [of({}), of({ id: 'other' })]
      await change('Pass', { presentation: { ...presentation, dcqlQuery: { credentials } } })
      const begun = await begin(setup, requestedPass().parameters)
      const asked = await readRequest(begun.authorizationRequest)
      const vpOf = async (holder: ReturnType<typeof generateKey>) => {
        const credential = await issueSdJwt({ claims: alice, holder })
        return [await presentSdJwt(asked, { credential, key: holder, claims: Object.keys(alice) })]
      }
      const [first, second] = [await vpOf(generateKey('P-256')), await vpOf(generateKey('P-256'))]
      await answerTo(asked, { vp_token: { person: first, other: second } })
      return goOn(begun)
    }),
  ),
]

const returns: Check[] = [
  check(`${steps}/presentation.ts`, 'digestOf(secret) !== issuance.browser', async (scene) => {
    const begun = await begin(await passesOf(scene), requestedPass().parameters)
    await presentTo(begun)
    return goOn({ ...begun, cookie: `vci=${'A'.repeat(43)}` })
  }),
  check(`${steps}/return.ts`, ['await requireUnanswered(wallet, request)', 'undefined'], async (scene) => {
    const setup = await passesOf(scene)
    const begun = await begin(setup, requestedPass().parameters)
    await presentTo(begun)
    await answer(setup, { request: sealedIn(await goOn(begun)), decision: 'decline' })
    return goOn(begun)
  }),
  check(
    `${steps}/return.ts`,
    ['await wallet.env.limitOffers(grantIdOf(request))', 'undefined'],
    async (scene) => {
      const begun = await begin(await passesOf(scene), requestedPass().parameters)
      await presentTo(begun)
      for (let count = 2; count < 31; count++) await goOn(begun)
      return replyIf((await goOn(begun)).status !== 429)
    },
  ),
  check(`${steps}/return.ts`, ['await redeemResponseCode(wallet, id, code)', 'undefined'], async (scene) => {
    const begun = await begin(await passesOf(scene), requestedPass().parameters)
    const { next } = await presentTo(begun)
    await visit(next!, begun.cookie)
    return replyIf((await visit(next!, begun.cookie)).status === 303)
  }),
  check(
    `${folder}/presented.ts`,
    ["state === 'PresentationVerified' || state === 'PresentationAccepted'", 'true'],
    async (scene) => {
      const setup = await passesOf(scene)
      const begun = await begin(setup, requestedPass('Free').parameters)
      await presentTo(begun, { issued: { claims: alice, key: generateKey('P-256') } })
      return goOn(begun)
    },
  ),
  check(
    `${steps}/return.ts`,
    ['await personClaims(wallet, terms, person)', 'undefined'],
    presented({ birthdate: 1990 }),
  ),
  check(
    `${folder}/match.ts`,
    ['await findMismatch(wallet, records, presented)', 'undefined'],
    presented({ family_name: 'Brown' }, { isOffered: true }),
  ),
]

/** Presents for one offer with family names, one after the other. */
async function tries(setup: Setup, names: string[]): Promise<{ page: Shown; recordId: string }> {
  const { parameters, recordId } = await offeredCard(setup)
  let page: Shown | undefined
  for (const family_name of names) {
    const begun = await begin(setup, parameters)
    await presentTo(begun, { issued: { claims: { ...alice, family_name } } })
    page = await goOn(begun)
  }
  return { page: page!, recordId }
}

const matches: Check[] = [
  check(`${folder}/match.ts`, 'value === undefined', (scene) =>
    withOwn(scene, async (setup, change) => {
      const { parameters } = await offeredCard(setup)
      const match = [{ presented: ['email'], offered: ['email'] }]
      await change('Card', { presentation: { ...presentation, match } })
      const begun = await begin(setup, parameters)
      await presentTo(begun)
      return goOn(begun)
    }),
  ),
  // Whoever has the link reloads the page of a wrong presentation until the offer is blocked.
  check(
    `${folder}/match.ts`,
    ['await useRequest(tx, { id: `match ${presentationId}` })', 'true'],
    async (scene) => {
      const setup = await passesOf(scene)
      const { parameters, recordId } = await offeredCard(setup)
      const begun = await begin(setup, parameters)
      await presentTo(begun, { issued: { claims: { ...alice, family_name: 'Brown' } } })
      for (let count = 0; count < 5; count++) await goOn(begun)
      return replyIf((await recordOf(setup, recordId)).protocolState === 'OfferBlocked')
    },
  ),
  check(`${folder}/match.ts`, 'guesses === 0', async (scene) => {
    const setup = await passesOf(scene)
    const { page } = await tries(setup, [...Array.from({ length: 5 }, () => 'Brown'), 'Adams']).catch(() => ({
      page: replyIf(false),
    }))
    return page
  }),
]

const needs: Check[] = [
  check(`${folder}/needed.ts`, ['all.every((each) => isDeepStrictEqual(each, all[0]))', 'true'], (scene) =>
    withOwn(scene, async (setup, change) => {
      const strict = { credentials: [of({ meta: { vct_values: ['https://credentials.example/rare'] } })] }
      await change('Free', { presentation: { ...presentation, dcqlQuery: strict } })
      const begun = await begin(setup, requestedPass('Pass Free').parameters)
      await presentTo(begun)
      return goOn(begun)
    }).catch(() => replyIf(false)),
  ),
  // The tenant wants another presentation by now.
  check(`${folder}/needed.ts`, '!isNeeded', (scene) =>
    withOwn(scene, async (setup, change) => {
      const begun = await begin(setup, requestedPass().parameters)
      await presentTo(begun)
      const page = await goOn(begun)
      const strict = { credentials: [of({ meta: { vct_values: ['https://credentials.example/rare'] } })] }
      await change('Pass', { presentation: { ...presentation, dcqlQuery: strict } })
      return answer(setup, { request: sealedIn(page), decision: 'accept' })
    }),
  ),
  // The tenant has rejected the presentation meanwhile.
  check(`${folder}/needed.ts`, '!isVerified(record)', async (scene) => {
    const setup = await passesOf(scene)
    const begun = await begin(setup, requestedPass().parameters)
    await presentTo(begun)
    const page = await goOn(begun)
    const presentationId = (await visit(begun.pageUrl, begun.cookie)).location!.searchParams.get('id')!
    await setup.tenant.call('PATCH /present-proof/presentations/{presentationId}', {
      path: { presentationId },
      body: { action: 'presentation-reject' },
    })
    return answer(setup, { request: sealedIn(page), decision: 'accept' })
  }),
]

export const presentationChecks: Check[] = [
  ...settings,
  ...offers,
  ...begins,
  ...returns,
  ...matches,
  ...needs,
]
