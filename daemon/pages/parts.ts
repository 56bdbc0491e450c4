/** Parts that the pages share. */
import { html, type Html } from './html.ts'
import { toQrCode } from './qr-code.ts'

/** Longer names and goals are cut: other people choose them, and they must not push the rest off the page. */
export const maxLineLength = 200

/** A text that another party chose, in quotation marks and isolated from the direction of the text around it. */
export function quoted(text: string): Html {
  return html`<bdi>“${text}”</bdi>`
}

/** The QR code of a text, or a note when the text is too long for one. `what` names the text. */
export function qrFigure(text: string, what: string): Html {
  const code = toQrCode(text, `QR code of ${what}`)
  if (code)
    return html`<figure>
      ${code}
      <figcaption>Scan this code with your wallet.</figcaption>
    </figure>`
  const note = 'The text is too long for a QR code. Copy it, further down, into your wallet.'
  return html`<figure class="note"><p>${note}</p></figure>`
}

export function steps(items: readonly Html[]): Html {
  return html`<h2>What to do</h2>
    <ol>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ol>`
}

/** Texts to copy, for people whose wallet is on the same device. */
export function copyFields(fields: readonly { label: string; text: string }[]): Html {
  return html`<details>
    <summary>Your wallet is on this device, or has no camera?</summary>
    ${fields.map(
      ({ label, text }, index) =>
        html`<label for="copy-${index}">${label}</label>
          <textarea id="copy-${index}" readonly rows="6" spellcheck="false">${text}</textarea>`,
    )}
  </details>`
}

/** A time in UTC, since the reader may be in any time zone. */
export function moment(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${formatter().format(date)} UTC</time>`
}

let cachedFormatter: Intl.DateTimeFormat | undefined

/** Created with the first page: it would take a twentieth of the daemon's start. */
const formatter = () =>
  (cachedFormatter ??= new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeStyle: 'medium',
    timeZone: 'UTC',
  }))
