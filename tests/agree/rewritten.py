"""What a way of writing a scene differently gives, and what the ways share."""


class Rewritten:
    """exact: the same bits. discrete: steps in other coordinates, the same only as the step goes to zero."""

    def __init__(self, scene, back=None, exact=False, options=(), every=1, discrete=False):
        self.scene, self.exact, self.options, self.every, self.discrete = scene, exact, options, every, discrete
        self.back = back or (lambda quantity, probe, values: values)


def is_one(value):
    """The same for all coordinates."""
    return not isinstance(value, list) or len(set(value)) <= 1
