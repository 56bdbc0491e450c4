/** OpenID4VC by the keys of two dashboards as they are built, in real terminals, with two daemons. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, newUser, type User } from '../../commands/_cli.ts'
import { hasTmux, startTmux, type Terminal } from './_tmux.ts'

const envOf = ({ folder }: User) => ({
  NODE_ENV: 'production',
  NO_COLOR: '1',
  AGENT_CONFIG_DIR: join(folder, 'config'),
  AGENT_DATA_DIR: join(folder, 'data'),
})

describe.skipIf(!hasTmux)('in tmux, without which this is skipped', () => {
  const ledger = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  const env = { VDR_URL: `sqlite:${join(ledger, 'vdr.db')}` }
  const [issuer, holder] = [newUser(), newUser()]
  let tmux: ReturnType<typeof startTmux>
  let [left, right] = [{} as Terminal, {} as Terminal] as const

  beforeAll(async () => {
    for (const user of [issuer, holder]) expect((await user.as(env).run`daemon start`).code).toBe(0)
    const { out: did } = await issuer.run`did create --publish --wait --quiet`
    const properties = { name: { type: 'string' } }
    const $schema = 'https://json-schema.org/draft/2020-12/schema'
    const schema = JSON.stringify({ $schema, type: 'object', properties })
    const { guid } = await issuer.json`schema publish --name person --author ${did} --schema ${schema}`
    const { id } = await issuer.json`issuer create`
    await issuer.json`issuer configuration add ${id} --id PersonSd --schema ${guid} --format sdjwt`
    tmux = startTmux()
    const size = { columns: 100, rows: 40 }
    ;[left, right] = [issuer, holder].map((user) =>
      tmux.open([process.execPath, bin, 'tui'], envOf(user), size),
    ) as [Terminal, Terminal]
  })

  afterAll(async () => {
    tmux[Symbol.dispose]()
    for (const user of [issuer, holder]) {
      await user.run`daemon stop`
      user.remove()
    }
    rmSync(ledger, { recursive: true, force: true })
  })

  /** Offers a credential, which the holder reads by its link. */
  async function offerByLink() {
    await left.after('n', '3').shows('Offer a credential: over which connection?')
    await left.after('Down', 'Enter').shows('Which credential is offered?')
    await left.after('Enter').shows('Which DID issues it?')
    await left.after('Enter').shows('Claims of PersonSd')
    await left.after('Alice', 'Enter').shows('Offer for a wallet')
    await pasteLink('OfferReceived (waiting for your answer)')
  }

  /** Requests a presentation, which the holder reads by its link. */
  async function requestByLink() {
    await left.after('n', '4').shows('Request a proof: from which connection?')
    await left.after('Down', 'Enter').shows('Which credential is requested?')
    await left.after('Enter').shows('Which DID signs the request?')
    await left.after('Enter').shows('Proof request for a wallet')
    await left.after('Tab').shows('› issuer')
    await left.after('any').shows('any▏')
    await left.after('Enter').shows('Request for a wallet')
    await pasteLink('RequestReceived (waiting for your answer)')
  }

  /** Copies the link of the QR code on the left, and pastes it on the right. */
  async function pasteLink(state: string) {
    expect(left.screen()).toContain('█')
    await left.after('y', 'Escape').shows(/✓ The (?:offer|request) is created/)
    await right.paste()
    await right.shows('› invitation  …')
    await right.after('Enter').shows(state)
  }

  test('offer, receive, request, present, verify and revoke', async () => {
    await left.shows('● live')
    await right.shows('● live')
    await offerByLink()
    await right.after('a').shows('Accept this offer?')
    expect(right.screen()).toContain('is not authenticated (http)')
    await right.after('y').shows('CredentialReceived (in your wallet)')
    await left.shows('CredentialSent (issued)')

    await requestByLink()
    await right.after('p').shows('Which credential do you present?')
    expect(right.screen()).toContain('trust: NOT trusted')
    expect(right.screen()).toContain('discloses name')
    await right.after('Enter').shows('PresentationSent (presented)')
    await left.shows('PresentationVerified (the presentation is valid, issuer not checked)')
    expect(left.screen()).toMatch(/shown name +Alice/)
    expect(left.screen()).toMatch(/passed +form, audience, nonce/)
    await left.after('v').shows('PresentationAccepted (accepted, issuer not checked)')

    await left.after('2', 'r').shows('Revoke this credential?')
    await left.after('y').shows(/status +revoked on/)
    await requestByLink()
    // The wallet reads the issuer’s list, and has nothing else to present.
    await right.after('p').shows('The issuer has revoked it')
    await right.after('2').shows(/revoked \((?:now|\d+ s ago)\)/)
  })

  test('an offer and a request are rejected', async () => {
    await offerByLink()
    await right.after('x').shows('Decline this offer? The issuer is not notified.')
    await right.after('y').shows('OfferRejected')
    await left.shows('OfferCreated')
    await requestByLink()
    await right.after('x').shows('The verifier is told (access_denied)')
    await right.after('y').shows('RequestRejected')
    await left.shows('The holder has declined the request.')
  })
})
