/** The recorder of the pictures in the documentation. */
import { expect, test } from 'vitest'
import { drawRecording } from '../../build/docs/recorder/draw.ts'

test('an SVG shows the text, the styles and the times of a terminal, and draws blocks as shapes', async () => {
  const svg = await drawRecording('A <title>', { columns: 20, rows: 2 }, [
    { atMs: 0, text: 'a <b>\r\n' },
    {
      atMs: 1_000,
      text: `\u001b[31mred\u001b[0m and \u001b[1mbold\u001b[0m   ▀▀█│\r\n${'x'.repeat(21)}\r\n`,
    },
  ])
  expect(svg).toContain('<title>A &lt;title&gt;</title>')
  expect(svg).toContain('a &lt;b&gt;</text>')
  expect(svg).toMatch(/class="b"[^>]*>bold</)
  expect(svg).toMatch(/style="fill:#[0-9a-f]{6}">red</)
  expect(svg).toMatch(/<path d="M126 18h16\.8v9h-16\.8zM142\.8 18h8\.4v18h-8\.4z/)
  expect(svg).not.toMatch(/[▀█│]|<script/)
  // After a seventh of the time, four lines have moved up by two.
  expect(svg).toContain('@keyframes lines{0%{transform:translateY(0px)}14.29%{transform:translateY(-36px)}}')
  expect(svg).toContain('@keyframes cover{0%{transform:translateY(18px)}14.29%{transform:translateY(36px)}}')
})
