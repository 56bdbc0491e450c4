/**
 * The page of an out-of-band invitation (DIDComm v2.1) of any agent. The link contains the whole invitation.
 *
 * The page does not state whether this agent made the invitation: a forged one could copy the sender's data from a real one.
 */
import { isOver } from '../../src/base/clock.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { toInvitationUrl, type OutOfBandInvitation } from '../../src/didcomm/invitation.ts'
import { findEndpoint } from '../../src/didcomm/route.ts'
import { purposeIn } from '../../src/protocols/out-of-band.ts'
import { html, line, type Html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, maxLineLength, moment, qrFigure, quoted, steps } from './parts.ts'

const texts = {
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

/** `oob` is the encoded invitation, `base` the public base URL of the page. */
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
  if (endsAt && isOver(endsAt.getTime())) return expiredPage(invitation, endsAt)
  const { kind, title, text, last } = texts[purposeIn(invitation) ?? 'connect']
  const url = toInvitationUrl(base, oob)
  const host = hostOf(from)
  const destination = host === undefined ? undefined : html`Your messages go to <bdi>${host}</bdi>.`
  return {
    title,
    isWide: true,
    content: html`<header>
        <p class="kind">${kind}</p>
        <h1>${title}</h1>
        <p>${text}</p>
        ${goalOf(invitation)}
      </header>
      ${qrFigure(url, 'the invitation')}
      <div>
        ${steps([
          html`Open your wallet app, and scan the code.`,
          html`Check what your wallet shows of the sender. ${destination}`,
          html`${last}`,
        ])}
        <aside class="note">
          <p>
            An invitation does not prove its author. If you did not expect one, close the page: opening it
            sends nothing.
          </p>
        </aside>
        ${copyFields([
          { label: 'Copy this link into your wallet:', text: url },
          { label: 'Or, if it asks for the invitation’s text:', text: oob },
        ])}
        ${details(invitation)}
        ${endsAt && html`<footer><p>It can be accepted until ${moment(endsAt)}.</p></footer>`}
      </div>`,
  }
}

function expiredPage(invitation: OutOfBandInvitation, endsAt: Date): Page {
  const title = 'This invitation has expired'
  return {
    title,
    content: html`<h1>${title}</h1>
      <p>It expired on ${moment(endsAt)}. Ask the sender for a new one.</p>
      ${goalOf(invitation)} ${details(invitation)}`,
  }
}

function goalOf({ body }: OutOfBandInvitation): Html | undefined {
  const goal = line(body.goal, maxLineLength)
  if (goal === undefined) return undefined
  return html`<p class="soft">Purpose, in the sender’s words:</p>
    <blockquote>${quoted(goal)}</blockquote>`
}

/** The claims of the invitation about its maker and itself. */
function details({ id, from, body }: OutOfBandInvitation): Html {
  const rows = {
    'DID of the other side': from,
    'Its messages go to': hostOf(from),
    'Code of its purpose': body.goal_code,
    Invitation: id,
  }
  return html`<details>
    <summary>Who made this invitation?</summary>
    <dl>
      ${Object.entries(rows).map(([name, value]) => {
        const text = line(value, 1_000)
        return text === undefined
          ? html``
          : html`<div>
              <dt>${name}</dt>
              <dd>${text}</dd>
            </div>`
      })}
    </dl>
  </details>`
}

/** The host of a did:peer's service. Undefined for other DIDs, which would need a network call. */
function hostOf(did: string): string | undefined {
  try {
    const url = findEndpoint(resolvePeerDid(did))
    return url && new URL(url).host
  } catch {
    return undefined
  }
}
