import { expect, test } from 'vitest'
import { nearestCommand } from '../../cli/errors/nearest-command.ts'
import { editDistance, nearest } from '../../src/foundation/nearest.ts'

test.each([
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'acb', 1],
  ['abc', 'abd', 1],
  ['abc', 'ac', 1],
  ['abc', 'xabc', 1],
  ['kitten', 'sitting', 3],
  ['ca', 'abc', 3],
])('%j to %j is %i edits', (a, b, slips) => {
  expect(editDistance(a, b)).toBe(slips)
  expect(editDistance(b, a)).toBe(slips)
})

const commands = [
  'connection list',
  'connection remove',
  'credential list',
  'credential offer',
  'doctor',
  'did list',
  'tenant key add',
]

test.each([
  [['credental', 'offer'], 'credential offer'],
  [['credential', 'ofer', '--claim'], 'credential offer'],
  [['conection', 'lsit'], 'connection list'],
  [['conn', 'list'], 'connection list'],
  [['connections', 'list'], 'connection list'],
  [['Credential', 'Offer'], 'credential offer'],
  [['connection', 'delete', 'abc'], 'connection remove'],
  [['tenant', 'keys', 'add'], 'tenant key add'],
  [['docter'], 'doctor'],
  [['dids', 'list'], 'did list'],
  [['frobnicate'], undefined],
  [['connection', 'frobnicate'], undefined],
  [['x'], undefined],
])('%j suggests %s', (given, command) => {
  expect(nearestCommand(given, commands)).toBe(command)
})

test.each([
  ['--isuing-did', '--issuing-did'],
  ['--claimm', '--claim'],
  ['--con', '--connection'],
  ['--xyz', undefined],
])('%s suggests %s', (given, flag) => {
  expect(nearest(given, ['--issuing-did', '--claim', '--claims', '--connection'])).toBe(flag)
})
