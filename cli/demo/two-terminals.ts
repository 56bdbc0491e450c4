/** The demo in two terminals: acme’s side runs here, and the user types alice’s commands in the other one. */
import { writeFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { basename, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../daemon/client/client.ts'
import { openEventStream } from '../../daemon/client/event-client.ts'
import { variables } from '../../src/base/config.ts'
import { readEvents } from '../client/events.ts'
import { findDaemon } from '../daemon/find.ts'
import { CommandError } from '../errors/errors.ts'
import { createChanges, toChange, type Changes } from './changes.ts'
import { quote } from './calls.ts'
import { onboardPerson, person, prepareIssuer, signIn } from './flow.ts'
import type { Narrator } from './narrator.ts'
import { startDaemon, type Name, type Party } from './party.ts'
import { enrol, hasStep, type Scenario } from './show.ts'

/** The time limit for a typed command. */
const patienceMs = 15 * 60_000

export type Means = {
  folder: string
  narrator: Narrator
  children: Map<Name, ChildProcess>
  signal: AbortSignal
}

type Side = { acme: Client; changes: Changes; narrator: Narrator; type: (...lines: string[]) => void }

/** The folder of alice’s daemon. */
export const aliceFolder = (folder: string) => join(folder, 'alice')

/** Runs acme’s side of a scenario and prints alice’s commands. @throws as the client; {CommandError} on timeout */
export async function host(
  scenario: Scenario,
  { folder, narrator, children, signal }: Means,
): Promise<{ acme: string; leave: () => Promise<void> }> {
  const changes = createChanges(patienceMs)
  changes.onChange = narrator.change
  narrator.step('Start acme’s daemon here, and alice’s in another terminal')
  const daemon = await startDaemon('acme', folder, (child) => {
    children.set('acme', child)
    child.once('exit', (code, signal) =>
      changes.fail(new CommandError(`acme’s daemon ended (${code ?? signal}).`, 1)),
    )
  })
  narrator.name('ACME', daemon.url)
  const type = (...lines: string[]) =>
    narrator.say(
      ['\n   Type in the other terminal:\n', ...lines.map((line) => `     ${line}`), ''].join('\n'),
    )
  const file = join(folder, 'alice.sh')
  writeFileSync(file, settingsOf(folder), { mode: 0o600 })
  type(`. ${file}`, 'agent daemon start', 'agent did create')
  const party = await enrol(daemon, folder, narrator)
  await follow(party, changes, signal)
  const acme = narrator.watch(party.call, { base: 'ACME', header: 'apikey', key: 'ACME_KEY' })
  await play(scenario, { acme, changes, narrator, type }, daemon.url)
  return { acme: daemon.url, leave: () => leave(type, folder, signal) }
}

/** Waits until alice’s daemon stops. */
async function leave(type: Side['type'], folder: string, signal: AbortSignal): Promise<void> {
  type('agent daemon stop')
  while (await findDaemon(aliceFolder(folder))) await setTimeout(200, undefined, { signal })
}

async function play(scenario: Scenario, side: Side, url: string): Promise<void> {
  const { acme, changes, narrator, type } = side
  if (hasStep(scenario, 'props')) {
    narrator.step('Create acme’s DID, publish it, and publish a schema')
    const props = await prepareIssuer(acme, url, changes, narrator)
    const connectionId = await connect(side)
    const issuedId = await issue(side, props, connectionId)
    if (hasStep(scenario, 'present')) await present(side, props, connectionId)
    if (hasStep(scenario, 'revoke')) {
      narrator.step('Revoke: acme revokes the credential')
      await acme('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuedId } })
      type('agent credential show "$(agent credential list -q)"')
    }
  } else if (hasStep(scenario, 'connect')) await connect(side)
  if (!hasStep(scenario, 'onboard')) return
  narrator.step('Onboard: acme requests a DID, alice creates one for acme only')
  const did = await onboardPerson(acme, async (didRequest) => {
    narrator.name('DID_REQUEST', JSON.stringify(didRequest))
    type(`agent onboard submit ${quote(JSON.stringify(didRequest))} --new`)
  })
  narrator.say(`   acme knows alice by ${did}`)
  if (!hasStep(scenario, 'auth')) return
  narrator.step('Authenticate: acme sends a challenge, alice signs it with that DID')
  const subject = await signIn(acme, async (challenge) => {
    narrator.name('CHALLENGE', JSON.stringify(challenge))
    type(`agent auth respond ${quote(JSON.stringify(challenge))} --did ${did}`)
  })
  narrator.say(`   ${subject} has signed in`)
}

async function connect({ acme, changes, narrator, type }: Side): Promise<string> {
  narrator.step('Connect: acme invites, alice accepts')
  const { connectionId, thid, invitation } = await acme('POST /connections', {
    body: { label: 'alice', goal: 'Your employee credential' },
  })
  narrator.invitation(invitation.invitationUrl)
  type(`agent connection accept ${quote(invitation.invitationUrl)}`)
  await changes.until({ who: 'acme', what: 'connection', subject: thid, state: 'ConnectionResponseSent' })
  return connectionId
}

type Offered = { acmeDid: string; schemaId: string }

async function issue(
  { acme, changes, narrator, type }: Side,
  { acmeDid, schemaId }: Offered,
  connectionId: string,
): Promise<string> {
  narrator.step('Issue: acme offers, alice accepts, acme issues')
  const { recordId, thid } = await acme('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID: acmeDid, claims: person, schemaId, validityPeriod: 31_536_000 },
  })
  const about = { who: 'acme', what: 'credential', subject: thid } as const
  // Alice has received it, so her list has one line.
  await changes.until({ ...about, state: 'OfferSent' })
  type('agent credential accept "$(agent credential list -q)" --subject "$(agent did list -q)"')
  await changes.until({ ...about, state: 'RequestReceived' })
  await acme('POST /issue-credentials/records/{recordId}/issue-credential', { path: { recordId } })
  await changes.until({ ...about, state: 'CredentialSent' })
  return recordId
}

async function present(
  { acme, changes, narrator, type }: Side,
  { acmeDid, schemaId }: Offered,
  connectionId: string,
): Promise<void> {
  narrator.step('Present: acme requests a proof, alice presents, acme verifies and accepts')
  const { presentationId, thid } = await acme('POST /present-proof/presentations', {
    body: { connectionId, proofs: [{ schemaId, trustIssuers: [acmeDid] }] },
  })
  const about = { who: 'acme', what: 'proof', subject: thid } as const
  await changes.until({ ...about, state: 'RequestSent' })
  type('agent proof present "$(agent proof list -q)"')
  await changes.until({ ...about, state: 'PresentationVerified' })
  await acme('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: { action: 'presentation-accept' },
  })
  await changes.until({ ...about, state: 'PresentationAccepted' })
}

/** Forwards acme’s events until the end of the demo. */
async function follow({ url, apiKey }: Party, changes: Changes, signal: AbortSignal): Promise<void> {
  const open = (lastEventId: string | undefined) =>
    openEventStream(url, { apikey: apiKey }, { lastEventId, signal })
  const events = await readEvents(open, undefined, { signal })
  const hand = async () => {
    for await (const event of events) changes.note(toChange('acme', event))
  }
  void hand().catch((error: Error) => changes.fail(error))
}

/** Returns the shell script that sets up alice’s terminal (sh, bash, zsh): her settings, and `agent` for this program. */
function settingsOf(folder: string): string {
  const program = resolve(process.argv[1] ?? 'agent')
  const own = {
    AGENT_CONFIG_DIR: join(folder, 'config'),
    AGENT_DATA_DIR: aliceFolder(folder),
    AGENT_PROFILE: 'alice',
    AGENT_HTTP_PORT: '0',
    AGENT_DIDCOMM_PORT: '0',
    VDR_URL: `sqlite:${join(folder, 'vdr.db')}`,
  }
  return [
    '# Makes a terminal alice’s, for `agent demo --two-terminals`: . alice.sh',
    `unset ${[...Object.keys(variables), 'AGENT_URL', 'AGENT_API_KEY', 'AGENT_ADMIN_KEY'].join(' ')}`,
    ...Object.entries(own).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...(basename(program) === 'agent'
      ? []
      : [`agent() { ${quote(process.execPath)} ${quote(program)} "$@"; }`]),
    '',
  ].join('\n')
}
