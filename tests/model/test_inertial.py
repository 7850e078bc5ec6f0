"""Ten parameters of a body in both forms."""

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.random_mechanisms import random_body


def test_forms_are_those_of_pinocchio(rng):
    for _ in range(5):
        body = random_body(rng)
        inertia = pin.Inertia(body["mass"], body["com"], body["inertia"])
        p = zv.inertial.from_body(**body)
        np.testing.assert_allclose(p, inertia.toDynamicParameters()[[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]], rtol=1e-13)
        H = zv.inertial.to_pseudo_inertia(p)
        np.testing.assert_allclose(H, inertia.toPseudoInertia().toMatrix(), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(zv.inertial.from_pseudo_inertia(H), p, rtol=1e-12, atol=1e-15)
        mass, com, tensor = zv.inertial.to_body(p)
        np.testing.assert_allclose(mass, body["mass"], rtol=1e-14)
        np.testing.assert_allclose(com, body["com"], rtol=1e-13)
        np.testing.assert_allclose(tensor, body["inertia"], rtol=1e-11, atol=1e-14)


def test_moments_are_elements_of_the_pseudo_inertia(rng):
    p = rng.normal(size=(3, 2, 10))
    H = zv.inertial.to_pseudo_inertia(p, "moments")
    np.testing.assert_array_equal(H[..., 3, 3], p[..., 9])
    np.testing.assert_array_equal(H[..., :3, 3], p[..., 6:9])
    back = zv.inertial.reordered(zv.inertial.reordered(p, "moments", "tensor"), "tensor", "moments")
    np.testing.assert_allclose(back, p, rtol=1e-13, atol=1e-14)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="order is 'mass', expected"):
        zv.inertial.to_pseudo_inertia(np.zeros(10), "mass")
    with pytest.raises(ValueError, match="H is not symmetric"):
        zv.inertial.from_pseudo_inertia(np.triu(np.ones((4, 4))))
    with pytest.raises(zv.ModelError, match="mass"):
        zv.inertial.to_body([-1.0, *np.zeros(9)])
