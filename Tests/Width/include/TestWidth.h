/* Nothing to call: what width.c does is done before the tests begin. */
