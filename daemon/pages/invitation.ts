/**
 * The page of an out-of-band invitation (DIDComm v2.1): anybody's, since all of it is in its link.
 *
 * Whether it was made here is not said: what an invitation shows of its maker could be copied from another one, and would then pass for a
 * promise of this agent's.
 */
import { isOver } from '../../src/base/clock.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { toInvitationUrl, type OutOfBandInvitation } from '../../src/didcomm/invitation.ts'
import { endpointOf } from '../../src/didcomm/route.ts'
import { purposeIn } from '../../src/protocols/open-invitation.ts'
import { html, line, type Html } from './html.ts'
import type { Page } from './page.ts'
import { longestLine, moment, quoted, scan, steps, toCopy } from './parts.ts'

const kinds = {
  connect: {
    kind: 'Invitation to connect',
    title: 'You are invited to connect',
    text: 'Somebody invites you to connect your wallet with theirs, so that the two can exchange messages, credentials and proofs.',
    last: 'Confirm that you want to connect, or decline. Nothing of yours is shown by connecting.',
  },
  offer: {
    kind: 'Credential offer',
    title: 'You are offered a credential',
    text: 'Somebody offers you a credential to keep in your wallet.',
    last: 'Look at what the credential says, and accept it or decline.',
  },
  request: {
    kind: 'Proof request',
    title: 'You are asked for a proof',
    text: 'Somebody asks you to prove something with a credential from your wallet.',
    last: 'Look at what is asked for, and share it only if you want them to know it.',
  },
} as const

/** `oob` is the text of the invitation, `base` where the links to such pages begin. */
export function invitationPage({ invitation, oob, base }: { invitation: OutOfBandInvitation; oob: string; base: string }): Page {
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
          html`Look at what your wallet says of the other side.
          ${host === undefined ? undefined : html`Your messages to it go to <bdi>${host}</bdi>.`}`,
          html`${last}`,
        ])}
        <aside class="note">
          <p>
            An invitation does not prove who made it. If you did not expect one, close this page: by opening it you have answered nothing.
          </p>
        </aside>
        ${toCopy('Your wallet is on this device, or has no camera?', [
          { label: 'Copy this link into your wallet:', text: url },
          { label: 'Or, if it asks for the invitation’s text:', text: oob },
        ])}
        ${details(invitation)} ${endsAt && html`<footer><p>It can be accepted until ${moment(endsAt)}.</p></footer>`}
      </div>`,
  }
}

function overPage(invitation: OutOfBandInvitation, endsAt: Date): Page {
  const title = 'This invitation is over'
  return {
    title,
    content: html`<h1>${title}</h1>
      <p>Nobody can accept it any more since ${moment(endsAt)}. Ask whoever sent it for a new one.</p>
      ${goalOf(invitation)} ${details(invitation)}`,
  }
}

function goalOf({ body }: OutOfBandInvitation): Html | undefined {
  const goal = line(body.goal, longestLine)
  if (goal === undefined) return undefined
  return html`<p class="soft">What they say that it is for:</p>
    <blockquote>${quoted(goal)}</blockquote>`
}

/** What the invitation says of its maker and of itself. */
function details({ id, from, body }: OutOfBandInvitation): Html {
  const rows = { 'DID of the other side': from, 'Its messages go to': hostOf(from), 'Code of its goal': body.goal_code, Invitation: id }
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
    const url = endpointOf(resolvePeerDid(did))
    return url && new URL(url).host
  } catch {
    return undefined
  }
}
