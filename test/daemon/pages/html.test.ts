/** Text never becomes markup. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { html, line, toText, visibleJson } from '../../../daemon/pages/html.ts'
import { toQrCode } from '../../../daemon/pages/qr-code.ts'
import { character } from '../../support/character.ts'

const text = fc.string({ unit: character })

test('the markup around any value does not change', () => {
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

test('nested markup is kept, alone and in lists; undefined is empty', () => {
  const items = ['<a>', 'b'].map((item) => html`<i>${item}</i>`)
  expect(toText(html`<b>${items}${undefined}${html``}</b>${3}`)).toBe('<b><i>&lt;a&gt;</i><i>b</i></b>3')
})

test('invisible characters are removed, except those that scripts and emoji need', () => {
  const shown = (value: string) => toText(html`${value}`)
  expect(shown('a\u0000b\u001b[31mc\u007fd\u202ee\u2066f\u200bg\ufeffh\u{e0041}i')).toBe('ab[31mcdefghi')
  expect(shown('👩‍🚀 می‌خواهم\tx\ny')).toBe('👩‍🚀 می‌خواهم\tx\ny')
})

test('a line is one line, limited in length, and not empty', () => {
  expect(line(' a\r\n\t b  c ', 10)).toBe('a b c')
  expect(line('👍'.repeat(5), 3)).toBe('👍👍👍…')
  expect(line('👍'.repeat(3), 3)).toBe('👍👍👍')
  expect([line('\u202e \u0007', 5), line('', 5), line(undefined, 5)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('JSON in a page parses to the original value', () => {
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

test('a QR code has medium error correction where it fits, low otherwise, and none is made when no size is large enough', () => {
  const size = (length: number) =>
    /viewBox="0 0 (\d+)/.exec(toText(toQrCode('x'.repeat(length), 'x') ?? html``))?.[1]
  // Versions 40 (medium), 36 and 40 (low), with quiet zones (ISO/IEC 18004, table 7).
  expect([size(2_331), size(2_332), size(2_953), size(2_954)]).toEqual(['185', '169', '185', undefined])
})
