/** One flow over two daemons: the API calls of a client are the roots of what both agents do. */
import { expect, test } from 'vitest'
import { assemble } from '../../support/assemble.ts'
import { Daemon } from '../../support/daemon.ts'
import { wholeStory } from '../../support/main-flow.ts'
import { connect, newDid, presentationIn, receive } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { drawn, exportsTo, newTrace, openCollector, type Span } from './_collector.ts'

/** Two daemons that share a ledger, a webhook and a collector. One exports protobuf, the other JSON. */
const startTraced = () =>
  assemble(async (use) => {
    const collector = use(await openCollector())
    const webhook = use(await Webhook.open())
    const shared = { GLOBAL_WEBHOOK_URL: webhook.url, TRACE_PEERS: 'true' }
    const acme = use(await Daemon.start({ ...shared, ...exportsTo(collector, 'acme') }))
    const json = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', VDR_URL: `sqlite:${acme.dataDir}/vdr.db` }
    const alice = use(await Daemon.start({ ...shared, ...exportsTo(collector, 'alice'), ...json }))
    return {
      collector,
      webhook,
      issuer: await acme.newTenant('acme'),
      holder: await alice.newTenant('alice'),
    }
  })

/**
 * A trace without what depends on timing: polling of the test, commits, and transitions that an answer can
 * overtake.
 */
const withoutDetails = (spans: Span[]): Span[] => {
  const kept = (span: Span) => span.kind !== 1 || /^(make|verify)/.test(span.name)
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const ancestorOf = ({ parentId }: Span): string => {
    const parent = byId.get(parentId)
    return parent && !kept(parent) ? ancestorOf(parent) : parentId
  }
  const isWebhook = (span: Span | undefined) => span?.name.startsWith('webhook')
  return spans
    .filter((span) => kept(span) && !span.name.startsWith('GET'))
    .filter((span) => !isWebhook(span) && !isWebhook(byId.get(span.parentId)))
    .map((span) => ({ ...span, parentId: ancestorOf(span) }))
}

/** The states that the spans of transitions lead to, by agent and protocol, in any order. */
const statesIn = (spans: Span[]) => {
  const found: Record<string, string[]> = {}
  for (const { service, attributes } of spans) {
    const to = attributes['identity_agent.state.to']
    if (typeof to === 'string')
      (found[`${service} ${String(attributes['didcomm.protocol'])}`] ??= []).push(to)
  }
  return Object.fromEntries(Object.entries(found).map(([key, states]) => [key, states.toSorted()]))
}

/** All states of the main flow, in the same form. */
const allStates = Object.fromEntries(
  Object.entries(wholeStory)
    .filter(([key]) => !key.includes('DIDStatus'))
    .map(([key, states]) => [
      key
        .replace('issuer', 'acme')
        .replace('holder', 'alice')
        .replace('ConnectionUpdated', 'connection')
        .replace('IssueCredentialRecordUpdated', 'issue-credential')
        .replace('PresentationUpdated', 'present-proof'),
      states.toSorted(),
    ]),
)

const namesOf = (spans: Span[]) => spans.map(({ service, name }) => `${service}: ${name}`)

test('connect, issue and present: one trace each, over both agents', async () => {
  await using traced = await startTraced()
  const { collector, webhook, issuer, holder } = traced
  const traces = { connect: newTrace(), issue: newTrace(), present: newTrace() }

  const { inviterConnectionId: connectionId, thid } = await connect(
    traces.connect.of(issuer),
    traces.connect.of(holder),
  )
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const { did: subjectId } = await newDid(holder, 'authentication')
  const claims = { nickname: 'a-canary-among-claims' }
  const offer = await traces.issue.of(issuer).call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims, automaticIssuance: true },
  })
  const { recordId } = await receive(traces.issue.of(holder), offer, { subjectId })
  const { thid: proofThid, presentationId } = await traces.present
    .of(issuer)
    .call('POST /present-proof/presentations', {
      body: { connectionId, proofs: [], options: { challenge: 'c', domain: 'https://d.example' } },
    })
  const { presentationId: requestId } = await presentationIn(holder.call, proofThid, 'RequestReceived')
  await traces.present.of(holder).call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: requestId },
    body: { action: 'request-accept', proofId: [recordId] },
  })
  await presentationIn(issuer.call, proofThid, 'PresentationVerified')
  await presentationIn(holder.call, proofThid, 'PresentationSent')
  await traces.present.of(issuer).call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'presentation-accept' },
  })

  // The details of the last steps arrive with a later export.
  await collector.trace(traces.present.traceId, 'the last step', (spans) =>
    namesOf(spans).includes('acme: proof PresentationAccepted'),
  )
  const treeOf = async ({ traceId, rootId }: ReturnType<typeof newTrace>, size: number) =>
    drawn(
      withoutDetails(
        await collector.trace(traceId, 'the trace', (spans) => withoutDetails(spans).length >= size),
      ),
      rootId,
    )
  expect(await treeOf(traces.connect, 8)).toEqual([
    'acme: POST /connections',
    'alice: POST /connection-invitations',
    '  alice: send connections/1.0/request',
    '    acme: receive connections/1.0/request',
    '      acme: send connections/1.0/response',
    '        acme: POST',
    '        alice: receive connections/1.0/response',
    '    alice: POST',
  ])
  expect(await treeOf(traces.issue, 13)).toEqual([
    'acme: POST /issue-credentials/credential-offers',
    '  acme: send issue-credential/3.0/offer-credential',
    '    acme: POST',
    '    alice: receive issue-credential/3.0/offer-credential',
    'alice: POST /issue-credentials/records/{recordId}/accept-offer',
    '  alice: send issue-credential/3.0/request-credential',
    '    acme: receive issue-credential/3.0/request-credential',
    '      acme: make credential',
    '        acme: send issue-credential/3.0/issue-credential',
    '          acme: POST',
    '          alice: receive issue-credential/3.0/issue-credential',
    '            alice: verify credential',
    '    alice: POST',
  ])
  expect(await treeOf(traces.present, 12)).toEqual([
    'acme: PATCH /present-proof/presentations/{presentationId}',
    'acme: POST /present-proof/presentations',
    '  acme: send present-proof/3.0/request-presentation',
    '    acme: POST',
    '    alice: receive present-proof/3.0/request-presentation',
    'alice: PATCH /present-proof/presentations/{presentationId}',
    '  alice: make presentation',
    '    alice: send present-proof/3.0/presentation',
    '      acme: receive present-proof/3.0/presentation',
    '        acme: verify presentation',
    '          acme: verify credential',
    '      alice: POST',
  ])

  const { spans } = collector
  const inTraces = spans.filter(({ traceId }) =>
    Object.values(traces).some((each) => each.traceId === traceId),
  )
  expect(statesIn(inTraces)).toEqual(allStates)
  const ids = new Set([
    ...spans.map(({ spanId }) => spanId),
    ...Object.values(traces).map(({ rootId }) => rootId),
  ])
  expect(inTraces.filter(({ parentId }) => !ids.has(parentId))).toEqual([])

  const received = inTraces.find(({ name }) => name === 'receive issue-credential/3.0/offer-credential')
  expect(received?.attributes).toMatchObject({
    'messaging.system': 'didcomm',
    'messaging.message.conversation_id': offer.thid,
    'didcomm.protocol': 'issue-credential',
  })
  const accepted = inTraces.find(({ name }) => name.endsWith('accept-offer'))
  expect(accepted?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/issue-credentials/records/{recordId}/accept-offer',
    'http.response.status_code': 200,
    'url.scheme': 'http',
  })

  // Receivers of events continue the trace of their cause.
  await webhook.reached(issuer, thid, 'ConnectionRequestReceived')
  const event = webhook.deliveries.find(
    ({ event: { data } }) => data['state'] === 'ConnectionRequestReceived',
  )
  expect(event?.headers['traceparent']).toMatch(new RegExp(`^00-${traces.connect.traceId}-[0-9a-f]{16}-01$`))

  // Nothing about people, and no secret.
  const exported = JSON.stringify(spans)
  for (const hidden of [
    'did:',
    claims.nickname,
    issuer.walletId,
    holder.walletId,
    issuer.apiKey,
    recordId,
    presentationId,
  ])
    expect(exported).not.toContain(hidden)
})
