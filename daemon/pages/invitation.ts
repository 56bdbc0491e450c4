/**
 * The page of an out-of-band invitation (DIDComm v2.1): of a link that contains the whole invitation, of any
 * agent, or of a short link of this agent.
 *
 * The page does not state who made the invitation: a forged one could copy the sender's data from a real one.
 */
import type { OutOfBandInvitation } from '../../src/exchange/didcomm/invitation.ts'
import type { Texts } from './english.ts'
import { html, line, type Html } from './html.ts'
import type { Page } from './page.ts'
import { copyFields, longCode, maxLineLength, moment, pageEnd, qrFigure, quoted, steps } from './parts.ts'

export type InvitationLink = {
  invitation: OutOfBandInvitation
  oob: string
  /** The URL that contains the whole invitation. */
  url: string
  /** The short URL. The page then follows the invitation. */
  shortUrl?: string | undefined
  purpose: 'connect' | 'offer' | 'request'
  /** When the invitation expires, and whether it has. */
  endsAt: Date | undefined
  isOver: boolean
  /** The host to which messages for the sender go, if the sender's DID says it. */
  host: string | undefined
}

export function invitationPage(texts: Texts, link: InvitationLink): Page {
  const { invitation, oob, url, shortUrl, purpose, host, endsAt, isOver } = link
  const words = texts.invitation
  if (endsAt && isOver) return expiredPage(texts, link, endsAt)
  const { kind, title, text, last } = words[purpose]
  const goal = line(invitation.body.goal, maxLineLength)
  const destination = host === undefined ? undefined : words.destination(host)
  return {
    title: goal === undefined ? title : `${title}: ${goal}`,
    isWide: true,
    isLive: shortUrl !== undefined,
    staleAfterMs: endsAt && Math.max(0, endsAt.getTime() - Date.now()),
    content: html`<header>
        <p class="kind">${kind}</p>
        <h1>${title}</h1>
        <p>${text}</p>
        ${goalOf(texts, link)}
      </header>
      ${qrFigure(texts, shortUrl ?? url, words.code)}
      <div>
        ${steps(texts, [words.open, html`${words.check} ${destination}`, last])}
        <aside class="note"><p>${words.warning}</p></aside>
        ${shortUrl === undefined ? undefined : longCode(texts, url, words.code)}
        ${copyFields(texts, [
          ...(shortUrl === undefined
            ? [{ label: texts.copyLink, text: url }]
            : [
                { label: texts.copyLink, text: shortUrl },
                { label: texts.copyLongLink, text: url },
              ]),
          { label: words.copyText, text: oob },
        ])}
        ${details(texts, link)}
        ${pageEnd(texts, endsAt && words.until(moment(texts, endsAt)), shortUrl !== undefined)}
      </div>`,
  }
}

function expiredPage(texts: Texts, link: InvitationLink, endsAt: Date): Page {
  const { expired, expiredAt } = texts.invitation
  return {
    title: expired,
    content: html`<h1>${expired}</h1>
      <p>${expiredAt(moment(texts, endsAt))}</p>
      ${goalOf(texts, link)} ${details(texts, link)}`,
  }
}

function goalOf(texts: Texts, { invitation: { body } }: InvitationLink): Html | undefined {
  const goal = line(body.goal, maxLineLength)
  if (goal === undefined) return undefined
  return html`<p class="soft">${texts.invitation.purpose}</p>
    <blockquote>${quoted(texts, goal)}</blockquote>`
}

/** The claims of the invitation about its maker and itself. */
function details(
  { invitation: words }: Texts,
  { invitation: { id, from, body }, host }: InvitationLink,
): Html {
  const rows: readonly [name: string, value: string | undefined][] = [
    [words.from, from],
    [words.host, host],
    [words.goalCode, body.goal_code],
    [words.id, id],
  ]
  return html`<details>
    <summary>${words.details}</summary>
    <dl>
      ${rows.map(([name, value]) => {
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
