/** Text never becomes markup. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html, line, toText, visibleJson } from '../../../daemon/pages/html.ts'
import { toQrCode } from '../../../daemon/pages/qr-code.ts'
import { character } from '../../_character.ts'

const text = fc.string({ unit: character })

test('whatever a value is, the markup around it stays what it was', () => {
  fc.assert(
    fc.property(text, (value) => {
      const [, attribute, content, ...rest] = toText(html`<p title="${value}">${value}</p>`).split(
        /<p title="|">|<\/p>/,
      )
      expect(rest).toEqual([''])
      expect(content).toBe(attribute)
      expect(content).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/)
    }),
  )
})

test('markup stands as it is, alone and in lists; nothing is nothing', () => {
  const items = ['<a>', 'b'].map((item) => html`<i>${item}</i>`)
  expect(toText(html`<b>${items}${undefined}${html``}</b>${3}`)).toBe('<b><i>&lt;a&gt;</i><i>b</i></b>3')
})

test('what cannot be seen is left out, and what scripts and emoji need is kept', () => {
  const shown = (value: string) => toText(html`${value}`)
  expect(shown('a\u0000b\u001b[31mc\u007fd\u202ee\u2066f\u200bg\ufeffh\u{e0041}i')).toBe('ab[31mcdefghi')
  expect(shown('👩‍🚀 می‌خواهم\tx\ny')).toBe('👩‍🚀 می‌خواهم\tx\ny')
})

test('a line is one line, no longer than it may be, and not nothing', () => {
  expect(line(' a\r\n\t b  c ', 10)).toBe('a b c')
  expect(line('👍'.repeat(5), 3)).toBe('👍👍👍…')
  expect(line('👍'.repeat(3), 3)).toBe('👍👍👍')
  expect([line('\u202e \u0007', 5), line('', 5), line(undefined, 5)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('JSON that is shown is the JSON that it was', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      const json = visibleJson(value)
      expect(toText(html`${json}`).replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).toBe(
        json.replaceAll(/[&<>"']/g, ''),
      )
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('a QR code has medium error correction while that fits, low then, and ends where no code is large enough', () => {
  const size = (length: number) =>
    /viewBox="0 0 (\d+)/.exec(toText(toQrCode('x'.repeat(length), 'x') ?? html``))?.[1]
  // Modules of the sizes 40, 40 (low, which is a size smaller than medium would be) and their quiet zones (ISO/IEC 18004, table 7).
  expect([size(2_331), size(2_332), size(2_953), size(2_954)]).toEqual(['185', '169', '185', undefined])
})
