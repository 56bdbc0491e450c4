/** Media types as they may be written in `typ`. */
import { expect, test } from 'vitest'
import { isMediaType } from '../../src/foundation/media-type.ts'

test.each<[unknown, string[], boolean]>([
  ['kb+jwt', ['kb+jwt'], true],
  ['application/kb+jwt', ['kb+jwt'], true],
  ['Application/KB+JWT', ['kb+jwt'], true],
  ['didcomm-plain+json', ['application/didcomm-plain+json'], true],
  ['vc+sd-jwt', ['dc+sd-jwt', 'vc+sd-jwt'], true],
  ['jwt', ['kb+jwt'], false],
  ['text/kb+jwt', ['kb+jwt'], false],
  ['application/application/kb+jwt', ['kb+jwt'], false],
  ['kb+jwt ', ['kb+jwt'], false],
  [undefined, ['kb+jwt'], false],
  [['kb+jwt'], ['kb+jwt'], false],
])('%j is one of %j: %s', (typ, types, is) => {
  expect(isMediaType(typ, ...types)).toBe(is)
})
