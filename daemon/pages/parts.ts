/** What the pages are made of. */
import { html, type Html } from './html.ts'
import { toQrCode } from './qr-code.ts'

/** Longer names and goals are cut: they are other people's texts, and are not to push anything off the page. */
export const longestLine = 200

/** A text that somebody else chose, held apart from ours. */
export function quoted(text: string): Html {
  return html`<bdi>“${text}”</bdi>`
}

/** The code to scan. One that would be too large to be read is none, and the text is to be copied. */
export function scan(text: string, what: string): Html {
  const code = toQrCode(text, `QR code of ${what}`)
  return code
    ? html`<figure>
        ${code}
        <figcaption>Scan this code with your wallet.</figcaption>
      </figure>`
    : html`<figure class="note">
        <p>The text is too long for a QR code. Copy it, further down, into your wallet.</p>
      </figure>`
}

export function steps(items: readonly Html[]): Html {
  return html`<h2>What to do</h2>
    <ol>
      ${items.map((item) => html`<li>${item}</li>`)}
    </ol>`
}

/** A text to select and copy, for those whose wallet is on the same device. */
export function toCopy(summary: string, fields: readonly { label: string; text: string }[]): Html {
  return html`<details>
    <summary>${summary}</summary>
    ${fields.map(
      ({ label, text }, index) =>
        html`<label for="copy-${index}">${label}</label>
          <textarea id="copy-${index}" readonly rows="6" spellcheck="false" autocomplete="off">
${text}</textarea>`,
    )}
  </details>`
}

/** A moment as people write it, in UTC: whoever reads the page may be anywhere. */
export function moment(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${written().format(date)} UTC</time>`
}

let format: Intl.DateTimeFormat | undefined

/** Made with the first page: that takes as long as a twentieth of the daemon's start. */
const written = () =>
  (format ??= new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium', timeZone: 'UTC' }))
