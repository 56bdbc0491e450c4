import { TestRunner } from 'vitest'
import { missingPostgres } from './postgres-programs.ts'

/**
 * Skips the tests of a file, with a sentence, if PostgreSQL cannot run here. The file calls it before its
 * hooks and tests.
 */
export function needsPostgres(): void {
  if (missingPostgres === undefined) return
  console.log(`Skipped. ${missingPostgres}`)
  TestRunner.getCurrentSuite().options!.skip = true
}
