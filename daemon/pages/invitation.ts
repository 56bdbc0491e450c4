/**
 * The page of an out-of-band invitation (DIDComm v2.1) of any agent: the link holds all of it.
 *
 * Whether it was made here is not said: what an invitation shows of its maker could be copied from another one, and would then pass for a
 * promise of this agent's.
 */
import { isOver } from '../../src/base/clock.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { toInvitationUrl, type OutOfBandInvitation } from '../../src/didcomm/invitation.ts'
import { findEndpoint } from '../../src/didcomm/route.ts'
import { purposeIn } from '../../src/protocols/out-of-band.ts'
import { html, line, type Html } from './html.ts'
import type { Page } from './page.ts'
import { longestLine, moment, quoted, scan, steps, toCopy } from './parts.ts'

const kinds = {
  connect: {
    kind: 'Invitation to connect',
    title: 'You are invited to connect',
    text: 'Connect your wallet with the sender’s, to exchange messages, credentials and proofs.',
    last: 'Confirm the connection, or decline. Connecting shares none of your credentials.',
  },
  offer: {
    kind: 'Credential offer',
    title: 'You are offered a credential',
    text: 'The sender offers a credential for your wallet.',
    last: 'Check the claims of the credential, and accept it or decline.',
  },
  request: {
    kind: 'Invitation with a request',
    title: 'Proof request',
    text: 'The sender asks for a proof with a credential from your wallet.',
    last: 'Check the requested claims, and share them only if you want the sender to know them.',
  },
} as const

/** `oob` is the text of the invitation, `base` where the links to such pages begin. */
export function invitationPage({
  invitation,
  oob,
  base,
}: {
  invitation: OutOfBandInvitation
  oob: string
  base: string
}): Page {
  const { from, expires_time: expires } = invitation
  const endsAt = expires === undefined ? undefined : new Date(expires * 1_000)
  if (endsAt && isOver(endsAt.getTime())) return overPage(invitation, endsAt)
  const { kind, title, text, last } = kinds[purposeIn(invitation) ?? 'connect']
  const url = toInvitationUrl(base, oob)
  const host = hostOf(from)
  return {
    title,
    isWide: true,
    content: html`<header>
        <p class="kind">${kind}</p>
        <h1>${title}</h1>
        <p>${text}</p>
        ${goalOf(invitation)}
      </header>
      ${scan(url, 'the invitation')}
      <div>
        ${steps([
          html`Open your wallet app, and let it scan the code.`,
          html`Check what your wallet shows of the sender.
          ${host === undefined ? undefined : html`Your messages go to <bdi>${host}</bdi>.`}`,
          html`${last}`,
        ])}
        <aside class="note">
          <p>
            An invitation does not prove its author. If you did not expect one, close the page: opening it
            sends nothing.
          </p>
        </aside>
        ${toCopy('Your wallet is on this device, or has no camera?', [
          { label: 'Copy this link into your wallet:', text: url },
          { label: 'Or, if it asks for the invitation’s text:', text: oob },
        ])}
        ${details(invitation)}
        ${endsAt && html`<footer><p>It can be accepted until ${moment(endsAt)}.</p></footer>`}
      </div>`,
  }
}

function overPage(invitation: OutOfBandInvitation, endsAt: Date): Page {
  const title = 'This invitation has expired'
  return {
    title,
    content: html`<h1>${title}</h1>
      <p>It expired on ${moment(endsAt)}. Ask the sender for a new one.</p>
      ${goalOf(invitation)} ${details(invitation)}`,
  }
}

function goalOf({ body }: OutOfBandInvitation): Html | undefined {
  const goal = line(body.goal, longestLine)
  if (goal === undefined) return undefined
  return html`<p class="soft">Purpose, in the sender’s words:</p>
    <blockquote>${quoted(goal)}</blockquote>`
}

/** What the invitation says of its maker and of itself. */
function details({ id, from, body }: OutOfBandInvitation): Html {
  const rows = {
    'DID of the other side': from,
    'Its messages go to': hostOf(from),
    'Code of its goal': body.goal_code,
    Invitation: id,
  }
  return html`<details>
    <summary>Who made this invitation?</summary>
    <dl>
      ${Object.entries(rows).map(([name, value]) => {
        const shown = line(value, 1_000)
        return shown === undefined
          ? html``
          : html`<div>
              <dt>${name}</dt>
              <dd>${shown}</dd>
            </div>`
      })}
    </dl>
  </details>`
}

/** Where messages to a did:peer are sent, as far as it says so itself; nothing is asked for it. */
function hostOf(did: string): string | undefined {
  try {
    const url = findEndpoint(resolvePeerDid(did))
    return url && new URL(url).host
  } catch {
    return undefined
  }
}
