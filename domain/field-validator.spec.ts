import { describe, expect, it } from 'vitest';
import { validatorsOf } from './field-validator.js';
import type { FormField } from './form.js';

/** Forms that differ in what they let pass. */
const formOf = (maxLength: number): FormField[] => [{ name: 'text', type: 'string', required: true, maxLength }];

describe('validators of a form', () => {
  it('are compiled once per distinct form, whatever its texts and names are', () => {
    const [field] = formOf(10) as [FormField];
    expect(validatorsOf([{ ...field, name: 'other', title: 'Other', required: false }])).toBe(validatorsOf([field]));
    expect(validatorsOf(formOf(11))).not.toBe(validatorsOf(formOf(10)));
  });

  it('are forgotten from the least recently used on, so that 1 000 forms do not keep 1 000 of them', { timeout: 180_000 }, () => {
    const often = validatorsOf(formOf(0));
    const first = validatorsOf(formOf(1));
    const made = Array.from({ length: 1_000 }, (_, index) => {
      expect(validatorsOf(formOf(0))).toBe(often);
      return validatorsOf(formOf(index + 1));
    });
    // From the newest on: what is compiled anew drives out what was looked at before.
    const kept = made.filter((_, back) => validatorsOf(formOf(1_000 - back)) === made[999 - back]);
    expect(kept.length).toBe(255);
    expect(validatorsOf(formOf(1))).not.toBe(first);
  });
});
